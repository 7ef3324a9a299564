// The list of messages against everything that is not generated from it: the envelope's arms, the
// README's table and the files that a message touches.
#include <capnp/schema.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "schemas/messages.capnp.h"
#include "schemas/messages.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = ENGINERY_SOURCE_DIR;

struct ListedMessage {
  std::string name, arm;  // of its struct, of the envelope's union
};

std::string lower_camel(std::string name) {
  name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return name;
}

std::vector<ListedMessage> listed_messages() {
  return {
#define ENGINERY_MESSAGE(Struct, Arm) {#Struct, lower_camel(#Arm)},
#include "schemas/messages.inc"
  };
}

std::string read_text_file(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool has_word(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

TEST(MessageList, NamesTheArmsOfTheEnvelopeInTheirOrder) {
  const auto body = capnp::Schema::from<schemas::Envelope::Body>();
  const auto arms = body.getUnionFields();
  const std::vector<ListedMessage> list = listed_messages();
  ASSERT_EQ(arms.size(), list.size() + 1);
  EXPECT_STREQ(arms[0].getProto().getName().cStr(), "none");
  for (const auto arm : arms) {
    const unsigned place = arm.getProto().getDiscriminantValue();
    if (place == 0) continue;
    ASSERT_LE(place, list.size());
    EXPECT_EQ(list[place - 1].arm, arm.getProto().getName().cStr());
  }
}

// "submit | work" as a table has it: "submit, work".
std::string with_commas(std::string roles) {
  for (size_t bar; (bar = roles.find(" |")) != std::string::npos;) roles.replace(bar, 2, ",");
  return roles;
}

TEST(MessageList, IsTheTableOfTheReadme) {
  std::map<std::string, std::string> arm_of;
  for (const ListedMessage& message : listed_messages()) arm_of[message.name] = message.arm;
  std::set<std::string> wanted;
#define ENGINERY_REQUEST(Struct, Arm, socket, Reply, who)                                   \
  wanted.insert("| `" + arm_of[#Struct] + "` | `" + arm_of[#Reply] + "` | " #socket " | " + \
                with_commas(#who) + " |");
#define ENGINERY_REPLY(Struct, Arm)
#include "schemas/messages.inc"
  std::set<std::string> rows;
  std::istringstream readme(read_text_file(kSource / "schemas/README.md"));
  for (std::string line; std::getline(readme, line);) {
    const size_t socket = std::min(line.find("| control |"), line.find("| bulk |"));
    if (socket != std::string::npos)
      rows.insert(line.substr(0, line.find(" |", line.find(" |", socket + 1) + 1) + 2));
  }
  EXPECT_EQ(rows, wanted);
}

TEST(MessageList, EveryFieldOnTheWireHasItsComment) {
  for (const char* file : {"schemas/values.capnp", "schemas/messages.capnp"}) {
    std::istringstream schema(read_text_file(kSource / file));
    int fields = 0;
    for (std::string line; std::getline(schema, line);) {
      const size_t code = line.find(" @");
      if (code == std::string::npos || line.starts_with("@")) continue;
      ++fields;
      const size_t comment = line.find('#', code);
      EXPECT_TRUE(comment != std::string::npos && comment + 3 < line.size())
          << file << ": " << line;
      EXPECT_EQ(line.find(" @", code + 1), std::string::npos) << "one field a line: " << line;
    }
    EXPECT_GT(fields, 90) << file;
  }
}

// A comment may name anything; what has to be edited is code.
std::string without_comments(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  std::string code;
  for (std::string line; std::getline(lines, line);)
    code += line.substr(0, line.find(begin)) + '\n';
  return code;
}

std::set<std::string> files_that_name(const std::string& word, const std::set<fs::path>& folders) {
  const std::set<fs::path> kinds = {".h", ".cpp", ".inc", ".capnp"};
  std::set<std::string> names;
  for (const fs::path& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
      const fs::path& path = entry.path();
      if (!kinds.contains(path.extension())) continue;
      const char* comment = path.extension() == ".capnp" ? "#" : "//";
      if (has_word(without_comments(read_text_file(path), comment), word))
        names.insert(fs::relative(path, kSource).string());
    }
  }
  return names;
}

// Its row, its arm and struct on the wire, its plain struct and its fields.
TEST(MessageList, AMessageTouchesFourFilesBeforeItsHandler) {
  for (const ListedMessage& message : listed_messages()) {
    if (message.name == "Done") continue;  // also a field of Progress
    EXPECT_LE(files_that_name(message.name, {"schemas"}).size(), 4u) << message.name;
  }
  EXPECT_EQ(files_that_name("WhyMissReply", {"schemas"}),
            (std::set<std::string>{"schemas/codec_control.cpp", "schemas/control_messages.h",
                                   "schemas/messages.capnp", "schemas/messages.inc"}));
  EXPECT_EQ(files_that_name("PutTimings", {"schemas"}),
            (std::set<std::string>{"schemas/bulk_messages.h", "schemas/codec_bulk.cpp",
                                   "schemas/messages.capnp", "schemas/messages.inc"}));
  // Outside: who answers it and who asks, no list of any kind.
  EXPECT_EQ(files_that_name("AppendLog", {"engine", "tuner", "cache", "pipeline", "coordinator",
                                          "worker", "cli"}),
            (std::set<std::string>{"coordinator/client/client.cpp",
                                   "coordinator/server/bulk_server.cpp"}));
}

}  // namespace
}  // namespace enginery
