#include "tests/coordinator/web/openmetrics_check.h"

#include <cmath>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

namespace enginery::test {
namespace {

const std::map<std::string, std::set<std::string>> kSuffixes = {
    {"gauge", {""}},
    {"counter", {"_total", "_created"}},
    {"info", {"_info"}},
    {"histogram", {"_bucket", "_count", "_sum", "_created"}},
};

class Checker {
 public:
  CheckedMetrics check(const std::string& text) {
    if (!text.ends_with("# EOF\n")) return fail("the text does not end with # EOF");
    std::istringstream lines(text.substr(0, text.size() - 6));
    for (std::string line; std::getline(lines, line);) {
      const std::string problem = line.starts_with("# ") ? metadata(line) : sample(line);
      if (!problem.empty()) return fail(problem + ": " + line);
    }
    if (const std::string problem = end_family(); !problem.empty()) return fail(problem);
    return out_;
  }

 private:
  CheckedMetrics fail(const std::string& problem) {
    out_.problem = problem;
    return out_;
  }

  std::string metadata(const std::string& line) {
    static const std::regex form(R"(# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*))");
    std::smatch parts;
    if (!std::regex_match(line, parts, form)) return "no metadata";
    if (parts[1] == "TYPE") return begin_family(parts[2], parts[3]);
    if (parts[2] != family_) return "metadata of another family";
    if (has_samples_) return "metadata behind samples";
    if (parts[1] == "UNIT" && !family_.ends_with("_" + parts[3].str()))
      return "the name does not end with the unit";
    return "";
  }

  std::string begin_family(const std::string& name, const std::string& type) {
    if (const std::string problem = end_family(); !problem.empty()) return problem;
    if (!kSuffixes.contains(type)) return "no type";
    if (!out_.types.emplace(name, type).second) return "a family twice";
    if (type == "counter" && name.ends_with("_total")) return "a counter's family with _total";
    family_ = name;
    has_samples_ = false;
    buckets_.clear();
    return "";
  }

  std::string sample(const std::string& line) {
    static const std::regex form(
        R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_]\w*="([^"\\\n]|\\["\\n])*"(,|(?=\})))+\})? (-?[0-9.e+-]+|NaN|[+-]Inf))re");
    std::smatch parts;
    if (!std::regex_match(line, parts, form)) return "no sample";
    const std::string name = parts[1], labels = parts[2];
    if (family_.empty() || !name.starts_with(family_)) return "a sample of no family";
    const std::string type = out_.types[family_], suffix = name.substr(family_.size());
    if (!kSuffixes.at(type).contains(suffix)) return "a suffix that the type has not";
    const double value = std::stod(parts[6]);
    if (type != "gauge" && !(value >= 0)) return "a negative count";
    if (!out_.samples.emplace(name + labels, value).second) return "a sample twice";
    has_samples_ = true;
    if (type == "histogram") return histogram_sample(suffix, labels, value);
    return "";
  }

  // Only histograms without further labels are known here.
  std::string histogram_sample(const std::string& suffix, const std::string& labels, double value) {
    if (suffix == "_count") count_ = value;
    if (suffix != "_bucket") return labels.empty() ? "" : "labels of a histogram's sum";
    static const std::regex form(R"re(\{le="(\+Inf|[0-9]*\.?[0-9e+-]+)"\})re");
    std::smatch parts;
    if (!std::regex_match(labels, parts, form)) return "a bucket without its bound";
    const double bound = parts[1] == "+Inf" ? HUGE_VAL : std::stod(parts[1]);
    if (!buckets_.empty() && (bound <= buckets_.back().first || value < buckets_.back().second))
      return "buckets that do not grow";
    buckets_.emplace_back(bound, value);
    return "";
  }

  std::string end_family() {
    if (family_.empty() || out_.types[family_] != "histogram") return "";
    if (buckets_.empty() || buckets_.back().first != HUGE_VAL) return family_ + " without +Inf";
    return buckets_.back().second == count_ ? "" : family_ + "'s count is not its last bucket";
  }

  CheckedMetrics out_;
  std::string family_;
  bool has_samples_ = false;
  std::vector<std::pair<double, double>> buckets_;
  double count_ = -1;
};

}  // namespace

CheckedMetrics check_openmetrics(const std::string& text) {
  return Checker().check(text);
}

}  // namespace enginery::test
