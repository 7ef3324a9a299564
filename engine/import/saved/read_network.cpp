#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/import/saved/network_file.h"

namespace enginery {
namespace {

using Json = nlohmann::json;

constexpr size_t kDataMultiple = 64;
constexpr size_t kSizeBytes = 8;
constexpr uint64_t kMaxHeaderBytes = uint64_t{1} << 28;  // a million layers take less
constexpr size_t kMaxRecords = size_t{1} << 21;
constexpr size_t kMaxFileRank = 16;

Error bad_file(const std::string& reason) {
  return {ErrorCode::invalid_argument, "network file: " + reason};
}

Result<int64_t> integer(const Json& value) {
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX);
  if (!fits) return bad_file("expected an integer, got " + value.dump().substr(0, 40));
  return value.get<int64_t>();
}

struct FileParts {
  std::string_view header, data;
};

Result<FileParts> split_file(std::string_view bytes) {
  if (!bytes.starts_with(kNetworkFileMagic)) return bad_file("it does not begin as one");
  bytes.remove_prefix(kNetworkFileMagic.size());
  if (bytes.size() < kSizeBytes) return bad_file("it is cut");
  uint64_t size = 0;
  for (size_t byte = kSizeBytes; byte-- > 0;)
    size = size << 8 | static_cast<unsigned char>(bytes[byte]);
  if (size > kMaxHeaderBytes || size > bytes.size() - kSizeBytes)
    return bad_file("it is cut, or its header's size is wrong");
  const size_t begin = kNetworkFileMagic.size() + kSizeBytes + size;
  const size_t padded = (begin + kDataMultiple - 1) / kDataMultiple * kDataMultiple - begin;
  std::string_view data = bytes.substr(kSizeBytes + size);
  data.remove_prefix(std::min(padded, data.size()));
  return FileParts{bytes.substr(kSizeBytes, size), data};
}

// Makes the graph record by record; values have their numbers from the records' order.
class NetworkReader {
 public:
  NetworkReader(std::string_view data, const std::map<std::string, Tensor>& values)
      : data_(data), given_(values) {}

  // Throws Json::exception where a field is missing or of another kind.
  Result<Graph> read(const Json& header) {
    header.at("name").get_to(graph_.name);
    header.at("symbols").get_to(graph_.symbols);
    const Json& records = header.at("records");
    if (!records.is_array() || records.size() > kMaxRecords)
      return bad_file("its records are no list, or more than " + std::to_string(kMaxRecords));
    for (const Json& record : records) {
      const Status added = record.contains("layer")   ? add_layer(record)
                           : record.contains("input") ? add_input(record)
                                                      : add_constant(record);
      if (!added.ok()) return added.error();
    }
    for (const Json& output : header.at("outputs")) {
      TRY(const ValueId v, value_of(output));
      if (v == kNoValue) return bad_file("an output is no value");
      CHECK_OK(graph_.mark_output(v));
    }
    if (header.contains("run_time_sizes")) CHECK_OK(read_sizes(header.at("run_time_sizes")));
    CHECK_OK(verify(graph_));
    return std::move(graph_);
  }

 private:
  // What verify cannot see: numbers that are none.
  Status read_sizes(const Json& sizes) {
    for (const Json& size : sizes) {
      std::vector<int64_t> numbers;
      for (const Json& number : size) {
        TRY(numbers.emplace_back(), integer(number));
      }
      if (numbers.size() != 3 || numbers[0] < 0 || numbers[2] < 0)
        return bad_file("a run-time size is no output, axis and count");
      graph_.run_time_sizes.push_back(
          {static_cast<size_t>(numbers[0]), numbers[1], static_cast<size_t>(numbers[2])});
    }
    return {};
  }

  Result<ValueId> value_of(const Json& number) const {
    TRY(const int64_t n, integer(number));
    if (n == -1) return kNoValue;
    if (n < 0 || static_cast<size_t>(n) >= ids_.size())
      return bad_file("value " + std::to_string(n) + " is used before a record makes it");
    return ids_[static_cast<size_t>(n)];
  }

  Result<TensorType> type_of(const Json& record) const {
    TensorType type;
    TRY(type.type, parse_data_type(record.at("type").get<std::string>()));
    const Json& dims = record.at("dims");
    if (!dims.is_array() || dims.size() > kMaxFileRank) return bad_file("dims of a wrong form");
    const auto symbols = static_cast<int64_t>(graph_.symbols.size());
    for (const Json& dim : dims) {
      TRY(const int64_t size, integer(dim));
      if (size < -1 - symbols) return bad_file("a dimension's symbol is not in its list");
      type.dims.push_back(size);
    }
    return type;
  }

  Status add_input(const Json& record) {
    const auto name = record.at("input").get<std::string>();
    TRY(TensorType type, type_of(record));
    if (is_static(type.dims)) {
      const auto fits = checked_volume(type.dims, element_bytes(type.type));
      if (!fits) return fits.error().within("input '" + name + "'");
    }
    const auto given = given_.find(name);
    if (given == given_.end()) {
      ids_.push_back(graph_.add_input(name, std::move(type)));
    } else if (given->second.type() != type.type) {
      return bad_file("input '" + name + "': the given value is of another type");
    } else {
      ids_.push_back(graph_.add_constant(name, given->second));
    }
    return {};
  }

  Status add_constant(const Json& record) {
    const auto name = record.at("constant").get<std::string>();
    const auto wrong = [&](const std::string& reason) {
      return bad_file("constant '" + name + "': " + reason);
    };
    TRY(TensorType type, type_of(record));
    const auto elements = checked_volume(type.dims, element_bytes(type.type));
    if (!elements) return wrong(elements.error().message);
    TRY(const int64_t at, integer(record.at("at")));
    const auto begin = static_cast<uint64_t>(at), bytes = static_cast<uint64_t>(bytes_of(type));
    if (at < 0 || begin > data_.size() || bytes > data_.size() - begin)
      return wrong("its bytes are not in the file");
    const std::string_view data = data_.substr(begin, bytes);
    const auto is_boolean = [](char c) { return c == 0 || c == 1; };
    if (type.type == DataType::boolean && !std::all_of(data.begin(), data.end(), is_boolean))
      return wrong("a boolean is neither 0 nor 1");
    Tensor tensor(type.type, type.dims);
    if (!data.empty()) std::memcpy(tensor.mutable_bytes(), data.data(), data.size());
    ids_.push_back(graph_.add_constant(name, std::move(tensor)));
    return {};
  }

  Status add_layer(const Json& record) {
    const auto name = record.at("layer").get<std::string>();
    const auto wrong = [&](const Error& error) { return error.within("layer '" + name + "'"); };
    auto op = parse_op(record.at("op").get<std::string>(),
                       record.at("attributes").get<std::map<std::string, std::string>>());
    if (!op) return wrong(op.error());
    std::vector<ValueId> inputs;
    for (const Json& input : record.at("inputs")) {
      TRY(inputs.emplace_back(), value_of(input));
    }
    const auto outputs = graph_.add_node(name, std::move(*op), std::move(inputs),
                                         record.at("outputs").get<std::vector<std::string>>());
    if (!outputs) return wrong(outputs.error());
    ids_.insert(ids_.end(), outputs->begin(), outputs->end());
    return {};
  }

  std::string_view data_;
  const std::map<std::string, Tensor>& given_;
  Graph graph_;
  std::vector<ValueId> ids_;  // by number
};

}  // namespace

Result<Graph> read_network(std::string_view bytes,
                           const std::map<std::string, Tensor>& values) try {
  TRY(const FileParts parts, split_file(bytes));
  const Json header = Json::parse(parts.header, nullptr, false);
  if (!header.is_object()) return bad_file("its header is not a JSON object");
  return NetworkReader(parts.data, values).read(header);
} catch (const Json::exception& error) {
  return bad_file(std::string("its header: ") + error.what());
}

}  // namespace enginery
