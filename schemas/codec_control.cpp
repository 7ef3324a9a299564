#include "schemas/codec_messages.h"

namespace enginery::codec {

void write(const ErrorReply& from, v::ErrorReply::Builder to) {
  write(from.fault, to.initFault());
}
void read(v::ErrorReply::Reader from, ErrorReply& to) {
  read(from.getFault(), to.fault);
}

void write(const Hello& from, v::Hello::Builder to) {
  to.setRole(text(from.role));
  to.setName(text(from.name));
  to.setLeastVersion(from.least_version);
  to.setGreatestVersion(from.greatest_version);
  to.setSoftware(text(from.software));
  to.setPid(from.pid);
}
void read(v::Hello::Reader from, Hello& to) {
  to.role = text(from.getRole());
  to.name = text(from.getName());
  to.least_version = from.getLeastVersion();
  to.greatest_version = from.getGreatestVersion();
  to.software = text(from.getSoftware());
  to.pid = from.getPid();
}

void write(const Welcome& from, v::Welcome::Builder to) {
  to.setVersion(from.version);
  to.setBulkAddress(text(from.bulk_address));
  to.setSoftware(text(from.software));
  to.setPid(from.pid);
  to.setIncarnation(from.incarnation);
  to.setPublicKey(data(from.public_key));
}
void read(v::Welcome::Reader from, Welcome& to) {
  to.version = from.getVersion();
  to.bulk_address = text(from.getBulkAddress());
  to.software = text(from.getSoftware());
  to.pid = from.getPid();
  to.incarnation = from.getIncarnation();
  to.public_key = data(from.getPublicKey());
}

namespace {

void write_target(const TargetRequest& from, v::TargetRequest::Builder to) {
  to.setSku(text(from.sku));
  to.setToolchain(text(from.toolchain));
  write_list(from.engine_key, to.initEngineKey(count(from.engine_key.size())));
  write_list(from.tune_key, to.initTuneKey(count(from.tune_key.size())));
  to.setProvisional(from.provisional);
}
void read_target(v::TargetRequest::Reader from, TargetRequest& to) {
  to.sku = text(from.getSku());
  to.toolchain = text(from.getToolchain());
  read_list(from.getEngineKey(), to.engine_key);
  read_list(from.getTuneKey(), to.tune_key);
  to.provisional = from.getProvisional();
}

}  // namespace

void write(const SubmitRequest& from, v::Submit::Builder to) {
  to.setClient(text(from.client));
  to.setName(text(from.name));
  to.setModelName(text(from.model_name));
  to.setModel(data(from.model));
  write_list(from.inputs, to.initInputs(count(from.inputs.size())));
  to.setOptions(text(from.options));
  write_list(from.validate_key, to.initValidateKey(count(from.validate_key.size())));
  auto targets = to.initTargets(count(from.targets.size()));
  for (size_t i = 0; i < from.targets.size(); ++i) write_target(from.targets[i], targets[count(i)]);
  to.setPriority(from.priority);
  write_texts(from.tags, to.initTags(count(from.tags.size())));
  to.setRebuild(from.rebuild);
  to.setWaitForWorkers(from.wait_for_workers);
  to.setDryRun(from.dry_run);
}
void read(v::Submit::Reader from, SubmitRequest& to) {
  to.client = text(from.getClient());
  to.name = text(from.getName());
  to.model_name = text(from.getModelName());
  to.model = digest(from.getModel());
  read_list(from.getInputs(), to.inputs);
  to.options = text(from.getOptions());
  read_list(from.getValidateKey(), to.validate_key);
  const auto targets = from.getTargets();
  to.targets.resize(checked_count(targets));
  for (size_t i = 0; i < to.targets.size(); ++i) read_target(targets[count(i)], to.targets[i]);
  to.priority = from.getPriority();
  read_texts(from.getTags(), to.tags);
  to.rebuild = from.getRebuild();
  to.wait_for_workers = from.getWaitForWorkers();
  to.dry_run = from.getDryRun();
}

void write(const JobReply& from, v::JobReply::Builder to) {
  write(from.job, to.initJob());
}
void read(v::JobReply::Reader from, JobReply& to) {
  read(from.getJob(), to.job);
}

void write(const ListJobs& from, v::ListJobs::Builder to) {
  to.setLimit(from.limit);
  to.setBefore(text(from.before));
}
void read(v::ListJobs::Reader from, ListJobs& to) {
  to = {from.getLimit(), text(from.getBefore())};
}

void write(const JobList& from, v::JobList::Builder to) {
  write_list(from.jobs, to.initJobs(count(from.jobs.size())));
}
void read(v::JobList::Reader from, JobList& to) {
  read_list(from.getJobs(), to.jobs);
}

void write(const ShowJob& from, v::ShowJob::Builder to) {
  to.setJob(text(from.job));
}
void read(v::ShowJob::Reader from, ShowJob& to) {
  to.job = text(from.getJob());
}

void write(const WaitJob& from, v::WaitJob::Builder to) {
  to.setJob(text(from.job));
  to.setKnownRevision(from.known_revision);
  to.setHoldMs(from.hold_ms);
  to.setUntilEnd(from.until_end);
}
void read(v::WaitJob::Reader from, WaitJob& to) {
  to = {text(from.getJob()), from.getKnownRevision(), from.getHoldMs(), from.getUntilEnd()};
}

void write(const CancelJob& from, v::CancelJob::Builder to) {
  to.setJob(text(from.job));
}
void read(v::CancelJob::Reader from, CancelJob& to) {
  to.job = text(from.getJob());
}

void write(const ExplainJob& from, v::ExplainJob::Builder to) {
  to.setJob(text(from.job));
}
void read(v::ExplainJob::Reader from, ExplainJob& to) {
  to.job = text(from.getJob());
}

void write(const ExplainReply& from, v::ExplainReply::Builder to) {
  write_list(from.targets, to.initTargets(count(from.targets.size())));
}
void read(v::ExplainReply::Reader from, ExplainReply& to) {
  read_list(from.getTargets(), to.targets);
}

void write(const FindEngines& from, v::FindEngines::Builder to) {
  to.setName(text(from.name));
  to.setTag(text(from.tag));
  to.setSku(text(from.sku));
  to.setLimit(from.limit);
}
void read(v::FindEngines::Reader from, FindEngines& to) {
  to = {text(from.getName()), text(from.getTag()), text(from.getSku()), from.getLimit()};
}

void write(const EngineList& from, v::EngineList::Builder to) {
  write_list(from.engines, to.initEngines(count(from.engines.size())));
}
void read(v::EngineList::Reader from, EngineList& to) {
  read_list(from.getEngines(), to.engines);
}

void write(const WhyMiss& from, v::WhyMiss::Builder to) {
  to.setSubject(text(from.subject));
}
void read(v::WhyMiss::Reader from, WhyMiss& to) {
  to.subject = text(from.getSubject());
}

void write(const WhyMissReply& from, v::WhyMissReply::Builder to) {
  write_list(from.misses, to.initMisses(count(from.misses.size())));
}
void read(v::WhyMissReply::Reader from, WhyMissReply& to) {
  read_list(from.getMisses(), to.misses);
}

void write(const SkuList& from, v::SkuList::Builder to) {
  write_list(from.skus, to.initSkus(count(from.skus.size())));
}
void read(v::SkuList::Reader from, SkuList& to) {
  read_list(from.getSkus(), to.skus);
}

void write(const WorkerList& from, v::WorkerList::Builder to) {
  write_list(from.workers, to.initWorkers(count(from.workers.size())));
}
void read(v::WorkerList::Reader from, WorkerList& to) {
  read_list(from.getWorkers(), to.workers);
}

void write(const DrainWorker& from, v::DrainWorker::Builder to) {
  to.setWorker(text(from.worker));
  to.setExit(from.exit);
}
void read(v::DrainWorker::Reader from, DrainWorker& to) {
  to = {text(from.getWorker()), from.getExit()};
}

}  // namespace enginery::codec
