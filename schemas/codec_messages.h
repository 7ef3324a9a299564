// Codec pairs of the messages: write(message, builder), read(reader, message). Inside schemas only.
#pragma once

#include "schemas/bulk.capnp.h"
#include "schemas/codec_values.h"
#include "schemas/control.capnp.h"

namespace enginery::codec {

void write(const ErrorReply& from, v::ErrorReply::Builder to);
void read(v::ErrorReply::Reader from, ErrorReply& to);
void write(const Hello& from, v::Hello::Builder to);
void read(v::Hello::Reader from, Hello& to);
void write(const Welcome& from, v::Welcome::Builder to);
void read(v::Welcome::Reader from, Welcome& to);
inline void write(const Done&, v::Done::Builder) {}
inline void read(v::Done::Reader, Done&) {}
void write(const SubmitRequest& from, v::Submit::Builder to);
void read(v::Submit::Reader from, SubmitRequest& to);
void write(const JobReply& from, v::JobReply::Builder to);
void read(v::JobReply::Reader from, JobReply& to);
void write(const ListJobs& from, v::ListJobs::Builder to);
void read(v::ListJobs::Reader from, ListJobs& to);
void write(const JobList& from, v::JobList::Builder to);
void read(v::JobList::Reader from, JobList& to);
void write(const ShowJob& from, v::ShowJob::Builder to);
void read(v::ShowJob::Reader from, ShowJob& to);
void write(const WaitJob& from, v::WaitJob::Builder to);
void read(v::WaitJob::Reader from, WaitJob& to);
void write(const CancelJob& from, v::CancelJob::Builder to);
void read(v::CancelJob::Reader from, CancelJob& to);
void write(const ExplainJob& from, v::ExplainJob::Builder to);
void read(v::ExplainJob::Reader from, ExplainJob& to);
void write(const ExplainReply& from, v::ExplainReply::Builder to);
void read(v::ExplainReply::Reader from, ExplainReply& to);
void write(const FindEngines& from, v::FindEngines::Builder to);
void read(v::FindEngines::Reader from, FindEngines& to);
void write(const EngineList& from, v::EngineList::Builder to);
void read(v::EngineList::Reader from, EngineList& to);
void write(const WhyMiss& from, v::WhyMiss::Builder to);
void read(v::WhyMiss::Reader from, WhyMiss& to);
void write(const WhyMissReply& from, v::WhyMissReply::Builder to);
void read(v::WhyMissReply::Reader from, WhyMissReply& to);
inline void write(const ListSkus&, v::ListSkus::Builder) {}
inline void read(v::ListSkus::Reader, ListSkus&) {}
void write(const SkuList& from, v::SkuList::Builder to);
void read(v::SkuList::Reader from, SkuList& to);
inline void write(const ListWorkers&, v::ListWorkers::Builder) {}
inline void read(v::ListWorkers::Reader, ListWorkers&) {}
void write(const WorkerList& from, v::WorkerList::Builder to);
void read(v::WorkerList::Reader from, WorkerList& to);
void write(const DrainWorker& from, v::DrainWorker::Builder to);
void read(v::DrainWorker::Reader from, DrainWorker& to);
void write(const SyncRequest& from, v::Sync::Builder to);
void read(v::Sync::Reader from, SyncRequest& to);
void write(const RunStep& from, v::RunStep::Builder to);
void read(v::RunStep::Reader from, RunStep& to);
void write(const SyncReply& from, v::SyncReply::Builder to);
void read(v::SyncReply::Reader from, SyncReply& to);

void write(const HasBlobs& from, v::HasBlobs::Builder to);
void read(v::HasBlobs::Reader from, HasBlobs& to);
void write(const BlobStates& from, v::BlobStates::Builder to);
void read(v::BlobStates::Reader from, BlobStates& to);
void write(const PutBlob& from, v::PutBlob::Builder to);
void read(v::PutBlob::Reader from, PutBlob& to);
void write(const PutReply& from, v::PutReply::Builder to);
void read(v::PutReply::Reader from, PutReply& to);
void write(const GetBlob& from, v::GetBlob::Builder to);
void read(v::GetBlob::Reader from, GetBlob& to);
void write(const BlobChunk& from, v::BlobChunk::Builder to);
void read(v::BlobChunk::Reader from, BlobChunk& to);
void write(const AppendLog& from, v::AppendLog::Builder to);
void read(v::AppendLog::Reader from, AppendLog& to);
void write(const AppendReply& from, v::AppendReply::Builder to);
void read(v::AppendReply::Reader from, AppendReply& to);
void write(const ReadLog& from, v::ReadLog::Builder to);
void read(v::ReadLog::Reader from, ReadLog& to);
void write(const LogChunk& from, v::LogChunk::Builder to);
void read(v::LogChunk::Reader from, LogChunk& to);
void write(const GetTimings& from, v::GetTimings::Builder to);
void read(v::GetTimings::Reader from, GetTimings& to);
void write(const TimingList& from, v::TimingList::Builder to);
void read(v::TimingList::Reader from, TimingList& to);
void write(const PutTimings& from, v::PutTimings::Builder to);
void read(v::PutTimings::Reader from, PutTimings& to);
void write(const PutTimingsReply& from, v::PutTimingsReply::Builder to);
void read(v::PutTimingsReply::Reader from, PutTimingsReply& to);

}  // namespace enginery::codec
