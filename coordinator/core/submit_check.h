// What a submit must fulfil before anything is made of it.
//
// Where: Jobs asks before it makes a job or a dry run. Nothing of a client's gets unchecked to
// where it would abort (ActionKey) or grow without bound. Threads: free function without state.
#pragma once

#include <map>

#include "coordinator/core/queue.h"

namespace enginery {

// Errors: usage says what is wrong with the request; not_found names the first blob of `missing`
// (which of the request's blobs are not in the store). `skus`: which workers have ever offered.
Status check_submit(const SubmitRequest& submit, const std::vector<Digest>& missing,
                    const OfferedSkus& skus);

}  // namespace enginery
