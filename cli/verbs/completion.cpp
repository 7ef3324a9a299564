// completion: a script for bash that completes verbs, options, file names, and live SKU and job
// names.
#include <fmt/format.h>

#include "cli/output/text.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

// Options whose values are the farm's SKUs.
constexpr std::string_view kSkuOptions = "--target|--sku|--skus";

// A verb and what its command line may have.
struct VerbWords {
  std::string verb;
  std::vector<std::string> options;
  bool takes_job = false;  // an argument JOB, or KEY|JOB
};

VerbWords words_of(const Verb& verb) {
  Options options{verb.name, std::string(verb.summary)};
  verb.make()->declare(options);
  VerbWords words{verb.name, options.names()};
  for (const OptionRow& row : options.rows()) {
    if (row.positional && row.names.front().ends_with("JOB")) words.takes_job = true;
  }
  return words;
}

// One case of the script for every verb: its options.
std::string options_case() {
  std::string text;
  for (const Verb& verb : verbs()) {
    const std::string names = joined(words_of(verb).options, " ");
    text += fmt::format("    {}) options=\"{} -v --verbose --log-level\" ;;\n", verb.name, names);
  }
  return text;
}

// "show|logs|wait"
std::string job_verbs() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (words_of(verb).takes_job) names.push_back(verb.name);
  }
  return joined(names, "|");
}

std::string bash_script() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (verb.group != VerbGroup::hidden) names.push_back(verb.name);
  }
  std::string text =
      "# bash completion for enginery:  source <(enginery completion)\n_enginery() {\n";
  text +=
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
      "verb=${COMP_WORDS[1]} options=\n";
  text += "  COMPREPLY=()\n";
  text += fmt::format(
      "  if [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return; "
      "fi\n",
      joined(names, " "));
  text += "  case $verb in\n" + options_case() + "  esac\n";
  text += fmt::format(
      "  case $before in {}) COMPREPLY=($(compgen -W \"this $(enginery skus --names 2>/dev/null)\" "
      "-- \"$word\")); return ;; esac\n",
      kSkuOptions);
  text +=
      "  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\")); return; "
      "fi\n";
  text += fmt::format(
      "  case $verb in {}) COMPREPLY=($(compgen -W \"$(enginery jobs --ids 2>/dev/null)\" -- "
      "\"$word\")); return ;; esac\n",
      job_verbs());
  text +=
      "  COMPREPLY=($(compgen -f -- \"$word\"))\n}\ncomplete -o filenames -F _enginery enginery\n";
  return text;
}

class CompletionCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("SHELL", shell_, "bash (the default)", Presence::optional);
    options.about("Add to ~/.bashrc:  source <(enginery completion)");
  }

  Result<ExitCode> run(Session& session) override {
    if (shell_ != "bash")
      return Error{ErrorCode::usage, "no completion for '" + shell_ + "'; there is: bash"};
    session.console.print(bash_script());
    return ExitCode::ok;
  }

 private:
  std::string shell_ = "bash";
};

}  // namespace

std::unique_ptr<Command> make_completion() {
  return std::make_unique<CompletionCommand>();
}

}  // namespace enginery
