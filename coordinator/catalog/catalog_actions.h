// What one may ask of a catalog, and order it to do, as data: an action's name, words and options
// in, a JSON document out. So `enginery catalog` and `enginery cache` do the same to a folder and,
// through AskCatalog and OrderCatalog, to a coordinator.
//
// Where: between the command line or the coordinator's sockets and cache/. The document is what
// --json prints (docs of the verbs), but that times are nanoseconds since 1970 (0: none). A
// document of a long list says how many there are and has the first thousand. Errors:
// invalid_argument (no such action, options that are none, too few words), not_found, and those of
// cache/. Threads: free functions; the catalogs are thread-safe.
#pragma once

#include <string>
#include <vector>

#include "cache/catalog.h"

namespace enginery {

struct CatalogCall {
  std::string action;              // "ls", "show", ...: the rows of catalog_actions.cpp
  std::vector<std::string> words;  // what it works on
  std::string options;             // a JSON object; "": none
};

// Whose engines and keys somebody sees: those of the own trust domain, or also all others'. What
// is not seen does not exist for who asks.
struct DomainSight {
  std::string own = kTrustDomain;
  bool all = true;

  bool sees(const std::string& domain) const { return all || domain == own; }
  // The domain to which a question is narrowed; "" for none.
  std::string narrowed() const { return all ? "" : own; }
};

// The catalog, and the same over a connection of its own, so that long questions hold up nobody.
struct CatalogAccess {
  Catalog& catalog;
  Catalog& reader;
  DomainSight sight = {};
};

// What an action is to the farm; an unknown one counts as a question, which is then refused.
enum class CatalogActionKind : uint8_t {
  question,       // answered at once, changes nothing
  long_question,  // reads every blob
  order,          // changes what is kept: for who runs the farm
};
CatalogActionKind kind_of_action(const std::string& action);

Result<std::string> carry_out(const CatalogAccess& access, const CatalogCall& call);

}  // namespace enginery
