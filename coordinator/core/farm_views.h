// What people see of the farm: the SKUs that its workers offer, and the workers.
//
// Where: answers of `skus` and `workers` (query.cpp). Threads: free functions that read the queue.
#pragma once

#include "coordinator/core/queue.h"

namespace enginery {

// The workers, those that are connected first, both by their names.
std::vector<WorkerNo> living_first(const Queue& queue);

// Every SKU that was ever offered, with the workers that offer it now and the steps that wait.
SkuList sku_list(const Queue& queue);

// The workers that are not forgotten, those that are connected first, at most 1000.
WorkerList worker_list(const Queue& queue, Now now);

}  // namespace enginery
