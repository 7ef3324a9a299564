#include "pipeline/signature.h"

#include "engine/base/signed_file.h"

namespace enginery {

std::vector<NamedText> facts_of_request(const BuildOptions& options) {
  std::vector<NamedText> out;
  if (!is_calibrated(options)) return out;
  out.push_back({std::string(kRequestedFact) + "precisions", to_text(options.precisions)});
  if (!options.calib_data.empty())
    out.push_back({std::string(kCalibrationFact) + "data", options.calib_data});
  return out;
}

Result<NamedBlob> sign_engine(BlobStore& blobs, const SigningKey& key, const EngineCheck& check,
                              const UnsignedEngine& engine) {
  TRY(Bytes bytes, blobs.get(engine.blob));
  const auto file = std::make_shared<Bytes>(std::move(bytes));
  UnsignedEngine signed_by = engine;
  signed_by.signer = key_id(key.public_key());
  TRY(const EngineToSign accepted, check(file, signed_by));
  ENSURE(accepted.content_bytes <= file->size(), "an engine with more content than bytes");
  file->resize(accepted.content_bytes);
  *file += accepted.provenance;
  if (accepted.with_key) {
    TRY(const Bytes section, accepted.with_key(as_bytes(*file), key));
    *file += section;
  }
  *file += signature_trailer(sha256(*file), key);
  TRY(const Digest stored, blobs.put(as_bytes(*file)));
  return NamedBlob{"engine", stored, file->size()};
}

}  // namespace enginery
