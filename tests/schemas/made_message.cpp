#include "tests/schemas/made_message.h"

#include <limits>

#include "tests/schemas/fields.h"

namespace enginery {
namespace {

// The last enumerator of each enumeration that travels.
constexpr ErrorCode last(ErrorCode) {
  return kLastErrorCode;
}
constexpr JobState last(JobState) {
  return JobState::cancelled;
}
constexpr TargetState last(TargetState) {
  return TargetState::cancelled;
}
constexpr Source last(Source) {
  return Source::joined;
}
constexpr StepState last(StepState) {
  return StepState::quarantined;
}
constexpr WorkerCondition last(WorkerCondition) {
  return WorkerCondition::quarantined;
}
constexpr OutcomeKind last(OutcomeKind) {
  return OutcomeKind::input_gone;
}

struct RandomChoice {
  RandomMessages& random;

  uint64_t number() { return random.number(); }
  double real() { return static_cast<double>(random.below(100'000)) / 8; }
  bool coin() { return random.below(2) == 1; }
  size_t list_size() { return random.below(4); }
  size_t alternative(size_t count) { return random.below(count); }
  uint64_t enumerator(uint64_t count) { return random.below(count); }
  std::string text() {
    std::string s(random.below(4) == 0 ? random.below(300) : random.below(12), '\0');
    for (char& c : s)
      c = static_cast<char>(random.number());  // zero bytes and broken UTF-8 included
    return s;
  }
};

struct FixedChoice {
  size_t choice = 0;
  uint64_t count = 0;

  uint64_t number() { return ++count; }
  double real() { return static_cast<double>(++count) + 0.5; }
  bool coin() { return true; }
  size_t list_size() { return 2; }
  size_t alternative(size_t alternatives) { return choice % alternatives; }
  uint64_t enumerator(uint64_t enumerators) { return enumerators - 1; }
  std::string text() { return "text " + std::to_string(++count); }
};

struct ExtremeChoice {
  size_t choice = 0;
  Extreme extreme = Extreme::empty;

  // The half of 32 bits is at its end, too.
  uint64_t number() const {
    switch (extreme) {
      case Extreme::least:
        return 0x8000'0000'8000'0000;
      case Extreme::greatest:
        return 0x7fff'ffff'7fff'ffff;
      case Extreme::all_ones:
        return ~0ull;
      case Extreme::empty:
        break;
    }
    return 0;
  }
  double real() const {
    using Limits = std::numeric_limits<double>;
    switch (extreme) {
      case Extreme::least:
        return Limits::lowest();
      case Extreme::greatest:
        return Limits::max();
      case Extreme::all_ones:
        return Limits::denorm_min();
      case Extreme::empty:
        break;
    }
    return 0;
  }
  bool full() const { return extreme != Extreme::empty; }
  bool coin() const { return full(); }
  size_t list_size() const { return full() ? 3 : 0; }
  size_t alternative(size_t alternatives) const { return choice % alternatives; }
  uint64_t enumerator(uint64_t enumerators) const {
    return extreme == Extreme::greatest ? enumerators - 1 : 0;
  }
  std::string text() const { return full() ? std::string(700, '\xff') : ""; }
};

template <typename Choice>
class Filler {
 public:
  explicit Filler(Choice choice) : choice_(choice) {}

  void operator()(uint64_t& n) { n = choice_.number(); }
  void operator()(int64_t& n) { n = static_cast<int64_t>(choice_.number()); }
  void operator()(uint32_t& n) { n = static_cast<uint32_t>(choice_.number()); }
  void operator()(int32_t& n) { n = static_cast<int32_t>(choice_.number()); }
  void operator()(double& n) { n = choice_.real(); }
  void operator()(bool& b) { b = choice_.coin(); }
  void operator()(std::string& s) { s = choice_.text(); }
  void operator()(Digest& d) {
    for (uint8_t& b : d.bytes) b = static_cast<uint8_t>(choice_.number());
  }
  template <typename T>
  void operator()(std::optional<T>& o) {
    if (choice_.coin()) (*this)(o.emplace());
  }
  template <typename T>
  void operator()(std::vector<T>& list) {
    list.resize(choice_.list_size());
    for (T& item : list) (*this)(item);
  }
  template <typename... Ts>
  void operator()(std::variant<Ts...>& v) {
    fill_alternative(v, choice_.alternative(sizeof...(Ts)));
  }
  template <typename T>
  void operator()(T& t) {
    if constexpr (std::is_enum_v<T>)
      t = static_cast<T>(choice_.enumerator(static_cast<uint64_t>(last(t)) + 1));
    else
      for_each_field(t, [this](auto& field) { (*this)(field); });
  }
  void operator()(std::monostate&) {}

  template <size_t I = 0, typename... Ts>
  void fill_alternative(std::variant<Ts...>& v, size_t index) {
    if constexpr (I < sizeof...(Ts)) {
      if (I != index) return fill_alternative<I + 1>(v, index);
      (*this)(v.template emplace<I>());
    }
  }

 private:
  Choice choice_;
};

template <typename Choice>
Envelope make_envelope(Choice choice, size_t index) {
  Filler fill(choice);
  Envelope e;
  fill(e.version);
  fill(e.request.high);
  fill(e.request.low);
  fill(e.session);
  fill(e.incarnation);
  fill(e.sequence);
  fill(e.trace);
  fill.fill_alternative(e.body, index);
  if (auto* submit = std::get_if<SubmitRequest>(&e.body))
    submit->tenant.clear();  // it never travels: the coordinator fills it in
  return e;
}

}  // namespace

Envelope RandomMessages::envelope(size_t index) {
  return make_envelope(RandomChoice{*this}, index);
}

Envelope extreme_envelope(size_t index, size_t choice, Extreme extreme) {
  return make_envelope(ExtremeChoice{choice, extreme}, index);
}

Envelope fixed_envelope(size_t index, size_t choice) {
  return make_envelope(FixedChoice{choice}, index);
}

}  // namespace enginery
