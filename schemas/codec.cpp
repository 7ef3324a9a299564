#include "schemas/codec.h"

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstring>

#include "schemas/codec_messages.h"
#include "schemas/envelope.capnp.h"

namespace enginery {
namespace codec {
namespace {

// One case a message: the compiler names the one that is missing.
struct BodyWriter {
  v::Envelope::Body::Builder to;
  void operator()(const std::monostate&) { to.setNone(); }
  void operator()(const ErrorReply& m) { write(m, to.initError()); }
  void operator()(const Hello& m) { write(m, to.initHello()); }
  void operator()(const Welcome& m) { write(m, to.initWelcome()); }
  void operator()(const Done& m) { write(m, to.initDone()); }
  void operator()(const SubmitRequest& m) { write(m, to.initSubmit()); }
  void operator()(const JobReply& m) { write(m, to.initJobReply()); }
  void operator()(const ListJobs& m) { write(m, to.initListJobs()); }
  void operator()(const JobList& m) { write(m, to.initJobList()); }
  void operator()(const ShowJob& m) { write(m, to.initShowJob()); }
  void operator()(const WaitJob& m) { write(m, to.initWaitJob()); }
  void operator()(const CancelJob& m) { write(m, to.initCancelJob()); }
  void operator()(const ExplainJob& m) { write(m, to.initExplainJob()); }
  void operator()(const ExplainReply& m) { write(m, to.initExplainReply()); }
  void operator()(const FindEngines& m) { write(m, to.initFindEngines()); }
  void operator()(const EngineList& m) { write(m, to.initEngineList()); }
  void operator()(const WhyMiss& m) { write(m, to.initWhyMiss()); }
  void operator()(const WhyMissReply& m) { write(m, to.initWhyMissReply()); }
  void operator()(const ListSkus& m) { write(m, to.initListSkus()); }
  void operator()(const SkuList& m) { write(m, to.initSkuList()); }
  void operator()(const ListWorkers& m) { write(m, to.initListWorkers()); }
  void operator()(const WorkerList& m) { write(m, to.initWorkerList()); }
  void operator()(const DrainWorker& m) { write(m, to.initDrainWorker()); }
  void operator()(const SyncRequest& m) { write(m, to.initSync()); }
  void operator()(const SyncReply& m) { write(m, to.initSyncReply()); }
  void operator()(const HasBlobs& m) { write(m, to.initHasBlobs()); }
  void operator()(const BlobStates& m) { write(m, to.initBlobStates()); }
  void operator()(const PutBlob& m) { write(m, to.initPutBlob()); }
  void operator()(const PutReply& m) { write(m, to.initPutReply()); }
  void operator()(const GetBlob& m) { write(m, to.initGetBlob()); }
  void operator()(const BlobChunk& m) { write(m, to.initBlobChunk()); }
  void operator()(const AppendLog& m) { write(m, to.initAppendLog()); }
  void operator()(const AppendReply& m) { write(m, to.initAppendReply()); }
  void operator()(const ReadLog& m) { write(m, to.initReadLog()); }
  void operator()(const LogChunk& m) { write(m, to.initLogChunk()); }
  void operator()(const GetTimings& m) { write(m, to.initGetTimings()); }
  void operator()(const TimingList& m) { write(m, to.initTimingList()); }
  void operator()(const PutTimings& m) { write(m, to.initPutTimings()); }
  void operator()(const PutTimingsReply& m) { write(m, to.initPutTimingsReply()); }
};

// An arm of a newer version reads as no body; whoever asked gets `unsupported` for an answer.
void read_body(v::Envelope::Body::Reader from, Body& to) {
  switch (from.which()) {
    case v::Envelope::Body::NONE:
      to = std::monostate{};
      return;
    case v::Envelope::Body::ERROR:
      read(from.getError(), to.emplace<ErrorReply>());
      return;
    case v::Envelope::Body::HELLO:
      read(from.getHello(), to.emplace<Hello>());
      return;
    case v::Envelope::Body::WELCOME:
      read(from.getWelcome(), to.emplace<Welcome>());
      return;
    case v::Envelope::Body::DONE:
      read(from.getDone(), to.emplace<Done>());
      return;
    case v::Envelope::Body::SUBMIT:
      read(from.getSubmit(), to.emplace<SubmitRequest>());
      return;
    case v::Envelope::Body::JOB_REPLY:
      read(from.getJobReply(), to.emplace<JobReply>());
      return;
    case v::Envelope::Body::LIST_JOBS:
      read(from.getListJobs(), to.emplace<ListJobs>());
      return;
    case v::Envelope::Body::JOB_LIST:
      read(from.getJobList(), to.emplace<JobList>());
      return;
    case v::Envelope::Body::SHOW_JOB:
      read(from.getShowJob(), to.emplace<ShowJob>());
      return;
    case v::Envelope::Body::WAIT_JOB:
      read(from.getWaitJob(), to.emplace<WaitJob>());
      return;
    case v::Envelope::Body::CANCEL_JOB:
      read(from.getCancelJob(), to.emplace<CancelJob>());
      return;
    case v::Envelope::Body::EXPLAIN_JOB:
      read(from.getExplainJob(), to.emplace<ExplainJob>());
      return;
    case v::Envelope::Body::EXPLAIN_REPLY:
      read(from.getExplainReply(), to.emplace<ExplainReply>());
      return;
    case v::Envelope::Body::FIND_ENGINES:
      read(from.getFindEngines(), to.emplace<FindEngines>());
      return;
    case v::Envelope::Body::ENGINE_LIST:
      read(from.getEngineList(), to.emplace<EngineList>());
      return;
    case v::Envelope::Body::WHY_MISS:
      read(from.getWhyMiss(), to.emplace<WhyMiss>());
      return;
    case v::Envelope::Body::WHY_MISS_REPLY:
      read(from.getWhyMissReply(), to.emplace<WhyMissReply>());
      return;
    case v::Envelope::Body::LIST_SKUS:
      read(from.getListSkus(), to.emplace<ListSkus>());
      return;
    case v::Envelope::Body::SKU_LIST:
      read(from.getSkuList(), to.emplace<SkuList>());
      return;
    case v::Envelope::Body::LIST_WORKERS:
      read(from.getListWorkers(), to.emplace<ListWorkers>());
      return;
    case v::Envelope::Body::WORKER_LIST:
      read(from.getWorkerList(), to.emplace<WorkerList>());
      return;
    case v::Envelope::Body::DRAIN_WORKER:
      read(from.getDrainWorker(), to.emplace<DrainWorker>());
      return;
    case v::Envelope::Body::SYNC:
      read(from.getSync(), to.emplace<SyncRequest>());
      return;
    case v::Envelope::Body::SYNC_REPLY:
      read(from.getSyncReply(), to.emplace<SyncReply>());
      return;
    case v::Envelope::Body::HAS_BLOBS:
      read(from.getHasBlobs(), to.emplace<HasBlobs>());
      return;
    case v::Envelope::Body::BLOB_STATES:
      read(from.getBlobStates(), to.emplace<BlobStates>());
      return;
    case v::Envelope::Body::PUT_BLOB:
      read(from.getPutBlob(), to.emplace<PutBlob>());
      return;
    case v::Envelope::Body::PUT_REPLY:
      read(from.getPutReply(), to.emplace<PutReply>());
      return;
    case v::Envelope::Body::GET_BLOB:
      read(from.getGetBlob(), to.emplace<GetBlob>());
      return;
    case v::Envelope::Body::BLOB_CHUNK:
      read(from.getBlobChunk(), to.emplace<BlobChunk>());
      return;
    case v::Envelope::Body::APPEND_LOG:
      read(from.getAppendLog(), to.emplace<AppendLog>());
      return;
    case v::Envelope::Body::APPEND_REPLY:
      read(from.getAppendReply(), to.emplace<AppendReply>());
      return;
    case v::Envelope::Body::READ_LOG:
      read(from.getReadLog(), to.emplace<ReadLog>());
      return;
    case v::Envelope::Body::LOG_CHUNK:
      read(from.getLogChunk(), to.emplace<LogChunk>());
      return;
    case v::Envelope::Body::GET_TIMINGS:
      read(from.getGetTimings(), to.emplace<GetTimings>());
      return;
    case v::Envelope::Body::TIMING_LIST:
      read(from.getTimingList(), to.emplace<TimingList>());
      return;
    case v::Envelope::Body::PUT_TIMINGS:
      read(from.getPutTimings(), to.emplace<PutTimings>());
      return;
    case v::Envelope::Body::PUT_TIMINGS_REPLY:
      read(from.getPutTimingsReply(), to.emplace<PutTimingsReply>());
      return;
  }
  to = std::monostate{};
}

void write_envelope(const Envelope& from, v::Envelope::Builder to) {
  to.setVersion(from.version);
  to.setRequestHigh(from.request.high);
  to.setRequestLow(from.request.low);
  to.setSession(text(from.session));
  to.setIncarnation(from.incarnation);
  to.setSequence(from.sequence);
  to.setTrace(text(from.trace));
  std::visit(BodyWriter{to.getBody()}, from.body);
}

void read_envelope(v::Envelope::Reader from, Envelope& to) {
  to.version = from.getVersion();
  to.request = {from.getRequestHigh(), from.getRequestLow()};
  to.session = text(from.getSession());
  to.incarnation = from.getIncarnation();
  to.sequence = from.getSequence();
  to.trace = text(from.getTrace());
  read_body(from.getBody(), to.body);
}

// One segment: a second try has room for all of what the first one needed.
Bytes build(const Envelope& envelope, unsigned first_words) {
  capnp::MallocMessageBuilder message(first_words);
  write_envelope(envelope, message.initRoot<v::Envelope>());
  const auto segments = message.getSegmentsForOutput();
  if (segments.size() > 1)
    return build(envelope, static_cast<unsigned>(message.sizeInWords() + 16));
  const auto bytes = segments[0].asBytes();
  return Bytes(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

}  // namespace
}  // namespace codec

Result<Bytes> encode(const Envelope& envelope, size_t max_bytes) {
  constexpr unsigned kFirstWords = 1024;
  Bytes bytes = codec::build(envelope, kFirstWords);
  if (bytes.size() > max_bytes)
    return Error{ErrorCode::invalid_argument, "message of " + std::to_string(bytes.size()) +
                                                  " bytes: the limit is " +
                                                  std::to_string(max_bytes) + " bytes"};
  return bytes;
}

Result<Envelope> decode(ByteSpan frame, size_t max_bytes) {
  if (frame.empty() || frame.size() > max_bytes || frame.size() % sizeof(capnp::word) != 0)
    return Error{ErrorCode::corrupt_data,
                 "message: a frame of " + std::to_string(frame.size()) + " bytes"};
  // ZeroMQ's frames start at any address.
  auto words = kj::heapArray<capnp::word>(frame.size() / sizeof(capnp::word));
  std::memcpy(static_cast<void*>(words.begin()), frame.data(), frame.size());
  const kj::ArrayPtr<const capnp::word> segments[] = {words.asPtr()};
  capnp::ReaderOptions limits;
  limits.traversalLimitInWords = words.size() * 4 + 1024;
  limits.nestingLimit = 16;
  try {
    capnp::SegmentArrayMessageReader reader(segments, limits);
    Envelope envelope;
    codec::read_envelope(reader.getRoot<codec::v::Envelope>(), envelope);
    return envelope;
  } catch (const kj::Exception& e) {
    return Error{ErrorCode::corrupt_data, std::string("message: ") + e.getDescription().cStr()};
  }
}

}  // namespace enginery
