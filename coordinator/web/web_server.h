// The coordinator's HTTP server: /metrics, /healthz and /api/v1, for reading only.
//
// Where: beside the control and bulk sockets, on an address and threads of its own. It knows the
// farm through WebSources alone: questions go to the control thread as any client's would, so a
// slow reader holds up nobody. coordinator/web/README.md lists what there is. Errors: as JSON
// (enginery.error/1) with a status. Threads: start and stop from one thread; the sources are
// called from the server's own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "coordinator/web/web_address.h"
#include "schemas/messages.h"

namespace enginery {

struct WebSources {
  // The answer to a request of the control socket, within seconds. Errors: what was answered;
  // unavailable: nothing came.
  std::function<Result<Body>(Body)> ask;
  // The text of /metrics. Errors: as ask.
  std::function<Result<std::string>()> metrics;
  // Whether the catalog can be written and the queue answers. Errors: what cannot be.
  std::function<Status()> health;
};

class WebServer {
  struct Started {
    explicit Started() = default;
  };
  struct Parts;

 public:
  // Listens and serves. usage: check_web_options; unavailable: the address is taken.
  static Result<std::unique_ptr<WebServer>> start(const WebOptions& options, WebSources sources);
  ~WebServer();  // stops; answers in the making are finished
  WebServer(const WebServer&) = delete;

  // "http://127.0.0.1:9090", with the port as bound.
  const std::string& address() const;

  // For start(), which alone can make the key.
  WebServer(Started, std::unique_ptr<Parts> parts);

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace enginery
