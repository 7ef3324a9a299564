// What the catalog itself answers: which engines there are, and why a key was a miss.
// Threads: free functions; the catalog is thread-safe.
#pragma once

#include "cache/catalog.h"
#include "coordinator/catalog/catalog_actions.h"
#include "engine/base/sign.h"
#include "pipeline/keys.h"
#include "schemas/messages.h"
#include "schemas/sight.h"

namespace enginery {

// Engines by submitted name, job (which the caller has looked up for who asks), or "sha256:" and at
// least 8 hex digits; newest first. Who sees every domain finds its own engines before others'.
// not_found says what was looked for, and nothing of what others have.
Result<EngineList> find_engines(Catalog& catalog, const std::optional<JobView>& job,
                                const FindEngines& request, const DomainSight& sight = {});

// For a key, or for each target of the job as it was when the job came: the nearest stored action
// and the fields that differ; of one trust domain alone where it is given.
Result<WhyMissReply> why_miss(Catalog& catalog, const std::optional<JobView>& job,
                              const WhyMiss& request, const std::string& domain = "");

// The journal's lines that it asks for, as far as they are of jobs that are seen; the farm's own
// lines are for those who see all. Does not wait for any.
Result<EventList> list_events(Catalog& catalog, const ListEvents& request, const Sight& sight = {});

// The signed set of the job's engines, or of the newest ones of a name (with a tag), of one model,
// one for each SKU. not_found: nothing of that name, no engine, or the job runs still.
Result<SetReply> make_set(Catalog& catalog, const std::optional<JobView>& job,
                          const MakeSet& request, const SigningKey& key,
                          const DomainSight& sight = {});

}  // namespace enginery
