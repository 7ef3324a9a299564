// What holds for every launch of every tactic: what the driver would refuse, and what the kernel
// would read or write at no address.
#include <algorithm>
#include <set>

#include "tests/engine/tactics/cuda/card.h"
#include "tests/support/problem_list.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

using test::Card;

// A plan with everything that a rule may need to know of it.
struct Planned {
  const Problem& problem;
  const Tactic& tactic;
  const KernelPlan& plan;
  const Card& card;
};

using Rule = void (*)(const Planned&);

// Asks the rule of every plan, with and without a pitch; on cards with and without asynchronous
// copies and clusters.
void for_every_plan(Rule rule) {
  for (int sm : {75, 90}) {
    const Card card(sm);
    for (const ProblemRow& row : conformance_rows()) {
      const Problem problem = test::problem_of(row.text);
      std::vector<Tactic> tactics = card.offers(problem);
      const std::vector<Tactic> pitched = pitched_twins(problem, tactics);
      tactics.insert(tactics.end(), pitched.begin(), pitched.end());
      for (const Tactic& tactic : tactics) {
        SCOPED_TRACE("sm_" + std::to_string(sm) + " " + std::string(row.name) + " " +
                     tactic_key(tactic));
        const auto plan = plan_kernel(problem, tactic, card.context);
        ASSERT_TRUE(plan.ok()) << plan.error().message;
        rule({problem, tactic, *plan, card});
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

bool is_given(const Problem& problem, size_t input) {
  const TensorDesc& desc = problem.inputs[input];
  return desc.present && !desc.constant && !desc.value;
}

TEST(Launches, StayWithinTheDriversLimits) {
  for_every_plan([](const Planned& p) {
    constexpr unsigned kMaxGridX = 0x7fffffff, kMaxGridYz = 65535, kMaxThreads = 1024;
    constexpr size_t kMaxParameterBytes = 4096;
    for (const KernelLaunch& launch : p.plan.launches) {
      EXPECT_GE(*std::ranges::min_element(launch.grid), 1u);
      EXPECT_LE(launch.grid[0], kMaxGridX);
      EXPECT_LE(std::max(launch.grid[1], launch.grid[2]), kMaxGridYz);
      EXPECT_GE(launch.threads, 32u);
      EXPECT_LE(launch.threads, kMaxThreads);
      EXPECT_EQ(launch.threads % 32, 0u) << "whole warps";
      EXPECT_LE(launch.shared_bytes,
                static_cast<unsigned>(p.card.context.limits.shared_kib_per_block) * 1024);
      EXPECT_LE(launch.arguments.size(), kMaxParameterBytes);
    }
  });
}

TEST(Launches, HaveEachPointerAtAPlaceOfItsOwn) {
  for_every_plan([](const Planned& p) {
    for (const KernelLaunch& launch : p.plan.launches) {
      std::set<size_t> offsets;
      for (const PointerSlot& slot : launch.slots) {
        EXPECT_TRUE(offsets.insert(slot.offset).second) << "two pointers at " << slot.offset;
        EXPECT_EQ(slot.offset % sizeof(void*), 0u);
        ASSERT_LE(slot.offset + sizeof(void*), launch.arguments.size());
        const Bytes before = launch.arguments.substr(slot.offset, sizeof(void*));
        EXPECT_EQ(before, Bytes(sizeof(void*), '\0')) << "a pointer lies on another argument";
      }
    }
  });
}

TEST(Launches, PointOnlyToWhatIsThere) {
  for_every_plan([](const Planned& p) {
    for (const KernelLaunch& launch : p.plan.launches) {
      for (const PointerSlot& slot : launch.slots) {
        const auto index = static_cast<size_t>(slot.index);
        switch (slot.source) {
          case PointerSource::input:
            ASSERT_LT(index, p.problem.inputs.size());
            EXPECT_TRUE(is_given(p.problem, index)) << "input " << index << " comes packed";
            break;
          case PointerSource::output:
            EXPECT_LT(index, p.problem.outputs.size());
            break;
          case PointerSource::constant:
            EXPECT_LT(index, p.plan.constants.size());
            break;
          case PointerSource::workspace:
            EXPECT_GT(p.plan.workspace_bytes, 0);
            break;
        }
      }
    }
  });
}

// How often a plan's launches point to each index of a source.
std::vector<int> uses(const KernelPlan& plan, PointerSource source, size_t count) {
  std::vector<int> out(count, 0);
  for (const KernelLaunch& launch : plan.launches) {
    for (const PointerSlot& slot : launch.slots)
      if (slot.source == source) ++out.at(static_cast<size_t>(slot.index));
  }
  return out;
}

TEST(Launches, ReadEveryInputAndConstantAndWriteEveryOutput) {
  for_every_plan([](const Planned& p) {
    if (p.tactic.view_of >= 0) {
      EXPECT_TRUE(p.plan.launches.empty()) << "a view runs nothing";
      return;
    }
    ASSERT_FALSE(p.plan.launches.empty());
    const auto inputs = uses(p.plan, PointerSource::input, p.problem.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (is_given(p.problem, i)) {
        EXPECT_GE(inputs[i], 1) << "input " << i;
      }
    }
    for (int n : uses(p.plan, PointerSource::output, p.problem.outputs.size())) EXPECT_GE(n, 1);
    for (int n : uses(p.plan, PointerSource::constant, p.plan.constants.size()))
      EXPECT_GE(n, 1) << "packed, and read by nobody";
  });
}

TEST(Launches, UseTheWorkspaceThatTheTacticAskedFor) {
  for_every_plan([](const Planned& p) {
    EXPECT_EQ(p.plan.workspace_bytes, p.tactic.workspace_bytes);
    const bool used = uses(p.plan, PointerSource::workspace, 1)[0] > 0;
    EXPECT_EQ(used, p.plan.workspace_bytes > 0);
  });
}

TEST(Launches, NameAnEntryOfTheirText) {
  for_every_plan([](const Planned& p) {
    if (p.plan.launches.empty()) return;
    const std::string text = program_text(p.plan.program);
    for (const KernelLaunch& launch : p.plan.launches) {
      const bool written = text.find(" " + launch.entry + "(") != std::string::npos,
                 generated = text.find("ENTRY(" + launch.entry + ",") != std::string::npos;
      EXPECT_TRUE(written || generated) << launch.entry;
    }
  });
}

// Formats that the runtime can give: what a tactic wants of a tensor must hold all its elements.
TEST(Tactics, WantFormatsThatFitTheTensor) {
  for_every_plan([](const Planned& p) {
    const auto expect_fits = [](const TensorDesc& desc, const Format& format) {
      const bool layout = format.layout.kind == LayoutKind::linear || desc.type.dims.size() >= 3;
      EXPECT_TRUE(layout) << to_string(desc.type) << " as " << to_string(format);
      EXPECT_EQ(is_floating(format.type), is_floating(desc.type.type)) << to_string(format);
      const int64_t elements = physical_bytes(desc.type.dims, format) / element_bytes(format.type);
      EXPECT_GE(elements, volume(desc.type.dims));
    };
    ASSERT_EQ(p.tactic.inputs.size(), p.problem.inputs.size());
    ASSERT_EQ(p.tactic.outputs.size(), p.problem.outputs.size());
    for (size_t i = 0; i < p.problem.inputs.size(); ++i) {
      if (is_given(p.problem, i)) expect_fits(p.problem.inputs[i], p.tactic.inputs[i]);
    }
    for (size_t i = 0; i < p.problem.outputs.size(); ++i)
      expect_fits(p.problem.outputs[i], p.tactic.outputs[i]);
  });
}

// Whatever an engine file asks of it, no other kernel takes what lies between the pixels for its
// own.
TEST(Tactics, HaveAPitchOnlyWhereTheyAreMadeForIt) {
  size_t writing = 0, reading = 0, refused = 0;
  const Card card(90);
  for (const ProblemRow& row : conformance_problems()) {
    const Problem problem = test::problem_of(row.text);
    if (is_reformat(problem)) continue;
    for (Tactic tactic : card.offers(problem)) {
      const Format x = tactic.inputs[0], y = tactic.outputs[0];
      tactic.outputs[0] = with_pitch(y, 4096);
      if (fits_pitch(output_dims(problem), tactic.outputs[0])) {
        const auto plan = plan_kernel(problem, tactic, card.context);
        EXPECT_EQ(plan.ok(), tactic.writes_pitched) << row.name << " " << tactic_key(tactic);
        (plan.ok() ? writing : refused) += 1;
      }
      tactic.outputs[0] = y;
      tactic.inputs[0] = with_pitch(x, 4096);
      if (fits_pitch(input_dims(problem, 0), tactic.inputs[0])) {
        const auto plan = plan_kernel(problem, tactic, card.context);
        EXPECT_EQ(plan.ok(), tactic.reads_pitched) << row.name << " " << tactic_key(tactic);
        (plan.ok() ? reading : refused) += 1;
      }
      if (tactic.inputs.size() < 2) continue;
      tactic.inputs[0] = x;
      tactic.inputs[1] = with_pitch(x, 4096);
      EXPECT_FALSE(plan_kernel(problem, tactic, card.context).ok()) << tactic_key(tactic);
    }
  }
  EXPECT_GT(writing, 100u);
  EXPECT_GT(reading, 100u);
  EXPECT_GT(refused, 100u);
}

// As an engine file may ask for it.
TEST(Tactics, HaveNoPitchWithoutInputs) {
  Problem problem = test::problem_of("act kind=relu | float32[1x8x5x5]");
  const Card card(90);
  Tactic tactic = card.offers(problem).front();
  problem.inputs.clear();
  tactic.inputs.clear();
  tactic.outputs[0] = with_pitch({tactic.outputs[0].type, {LayoutKind::channels_last, 0}}, 4096);
  tactic.id = "copy/strided";
  EXPECT_FALSE(plan_kernel(problem, tactic, card.context).ok());
}

TEST(Tactics, ComputeInAPrecisionThatIsAllowed) {
  for (const std::set<Precision>& allowed :
       {std::set{Precision::fp32}, {Precision::fp32, Precision::tf32}}) {
    const Card card(90, allowed);
    for (const ProblemRow& row : conformance_rows()) {
      for (const Tactic& tactic : card.offers(test::problem_of(row.text))) {
        EXPECT_TRUE(allowed.contains(tactic.compute)) << row.name << " " << tactic_key(tactic);
        for (const Format& format : tactic.outputs)
          EXPECT_NE(format.type, DataType::float16) << row.name << " " << tactic_key(tactic);
      }
    }
  }
}

}  // namespace
}  // namespace enginery
