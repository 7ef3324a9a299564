// completion: scripts for bash, zsh and fish. They ask this program what may come next, so verbs,
// options, values, lists, and live names of SKUs, jobs, engines and workers are the same in all.
#include <set>

#include "cli/farm/farm.h"
#include "cli/options/complete.h"
#include "cli/verbs/verbs.h"
#include "engine/base/did_you_mean.h"
#include "engine/device/sku_table.h"

namespace enginery {
namespace {

// bash breaks words at '=' as well; the whole line is what the user wrote.
constexpr std::string_view kBash =
    R"(# bash completion for enginery:  source <(enginery completion bash)
_enginery() {
  local line=${COMP_LINE:0:COMP_POINT} word found
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[${#words[@]}-1]}
  local IFS=$'\n'
  found=$("${words[0]}" completion --words -- "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  if [[ $found == :files ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "${word#*=}"))
    return
  fi
  for word in $found; do
    [[ $line == *=* && $word == --*=* && $COMP_WORDBREAKS == *=* ]] && word=${word#*=}
    COMPREPLY+=("$word")
  done
}
complete -F _enginery enginery
)";

constexpr std::string_view kZsh = R"(#compdef enginery
# zsh completion for enginery:  source <(enginery completion zsh), after compinit
_enginery() {
  local -a found
  found=("${(@f)$("$words[1]" completion --words -- "${(@)words[2,$CURRENT]}" 2>/dev/null)}")
  if [[ $found[1] == ":files" ]]; then
    _files
  elif [[ -n $found[1] ]]; then
    compadd -- "${found[@]}"
  fi
}
# In a file of $fpath this text is the function's own first call.
if [[ $funcstack[1] == _enginery ]]; then _enginery "$@"; else compdef _enginery enginery; fi
)";

constexpr std::string_view kFish =
    R"(# fish completion for enginery:  enginery completion fish | source
function __enginery_words
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] completion --words -- $words[2..-1] 2>/dev/null)
  if test "$found" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\n' $found
  end
end
complete -c enginery -f -a '(__enginery_words)'
)";

struct Shell {
  std::string name;
  std::string_view script;
};
const std::vector<Shell>& shells() {
  static const std::vector<Shell> list{{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  return list;
}

std::vector<CompletableVerb> completable_verbs() {
  std::vector<CompletableVerb> all;
  for (const Verb& verb : verbs()) {
    if (verb.group == VerbGroup::hidden) continue;
    Options options{verb.name, std::string(verb.summary)};
    const std::unique_ptr<Command> command = verb.make();
    command->declare(options);
    all.push_back({verb.name, options.rows()});
    all.back().rows.push_back({{"--log-level"}, "LEVEL", ""});
    all.back().rows.push_back({{"-v", "--verbose"}, "", ""});
  }
  return all;
}

class CompletionCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("SHELL", shell_, "bash, zsh or fish (default: bash)", Presence::optional);
    options.positionals("WORD", words_, "with --words: further words", Presence::optional);
    options.flag(
        "--words", answers_,
        "for the scripts: print what the last of these words of a command line may become");
    farm_.declare(options);
    options.about(
        "bash: add to ~/.bashrc:                  source <(enginery completion bash)\n"
        "zsh:  add to ~/.zshrc, after compinit:   source <(enginery completion zsh)\n"
        "fish: add to ~/.config/fish/config.fish: enginery completion fish | source");
  }

  Result<ExitCode> run(Session& session) override {
    if (answers_) {
      answer(session.console);
      return ExitCode::ok;
    }
    std::vector<std::string> names;
    for (const Shell& shell : shells()) {
      names.push_back(shell.name);
      if (shell.name != shell_) continue;
      session.console.print(shell.script);
      return ExitCode::ok;
    }
    return Error{ErrorCode::usage, "no completion for '" + shell_ + "'; there is: bash, zsh, fish" +
                                       did_you_mean(shell_, names)};
  }

 private:
  void answer(Console& console) const {
    std::vector<std::string> words{shell_};  // the first word takes the first place
    words.insert(words.end(), words_.begin(), words_.end());
    for (const std::string& word :
         complete(words, completable_verbs(), [this](LiveName kind) { return live_names(kind); }))
      console.print_line(word);
  }

  // What cannot be found out is not offered.
  std::vector<std::string> live_names(LiveName kind) const {
    std::set<std::string> names;
    if (kind == LiveName::sku)
      for (const LocalSku& local : local_skus()) names.insert(local.name);
    if (const auto client = connect(farm_); client.ok()) add_farms(**client, kind, names);
    return {names.begin(), names.end()};
  }

  static void add_farms(Client& client, LiveName kind, std::set<std::string>& names) {
    constexpr uint32_t kMost = 1000;
    const auto add = [&](const auto& list, auto name_of) {
      if (!list.ok()) return;
      for (const auto& one : *list) names.insert(name_of(one));
    };
    switch (kind) {
      case LiveName::sku:
        return add(client.skus(), [](const SkuView& sku) { return sku.sku; });
      case LiveName::job:
        return add(client.jobs(kMost), [](const JobLine& job) { return job.id; });
      case LiveName::worker:
        return add(client.workers(), [](const WorkerView& worker) { return worker.id; });
      case LiveName::engine:
        return add(client.find_engines({"", "", "", kMost}),
                   [](const EngineView& engine) { return engine.name; });
    }
  }

  FarmOptions farm_;
  std::string shell_ = "bash";
  std::vector<std::string> words_;
  bool answers_ = false;
};

}  // namespace

std::unique_ptr<Command> make_completion() {
  return std::make_unique<CompletionCommand>();
}

}  // namespace enginery
