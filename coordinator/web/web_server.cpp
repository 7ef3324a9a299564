#include "coordinator/web/web_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <thread>

#include "coordinator/web/openmetrics.h"
#include "coordinator/web/web_api.h"
#include "engine/base/digest.h"

namespace enginery {

struct WebServer::Parts {
  httplib::Server server;
  WebSources sources;
  WebAccess access;
  std::string address;
  std::thread thread;
};

namespace {

constexpr size_t kThreads = 4;  // requests at a time; further ones wait
constexpr time_t kIdleSeconds = 5;
constexpr char kJsonType[] = "application/json; charset=utf-8";

void give(httplib::Response& response, const WebAnswer& answer) {
  response.status = answer.status;
  response.set_content(answer.json, kJsonType);
}

// Compared by their digests, so that the time says nothing of how much was right.
bool brings_token(const httplib::Request& request, const std::string& token) {
  return sha256(request.get_header_value("Authorization")) == sha256("Bearer " + token);
}

// Without a token a page of a browser on this machine must not read the farm under a name of its
// own that leads to 127.0.0.1.
bool names_this_machine(const httplib::Request& request) {
  const std::string host = request.get_header_value("Host");
  const size_t colon = host.rfind(':');
  const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
  return is_loopback_name(has_port ? host.substr(0, colon) : host);
}

httplib::Server::HandlerResponse admit(const WebAccess& access, const httplib::Request& request,
                                       httplib::Response& response) {
  constexpr auto kHandled = httplib::Server::HandlerResponse::Handled;
  if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD");
    give(response, error_answer(405, "usage", "this address is for reading: GET and HEAD"));
    return kHandled;
  }
  if (!access.token.empty() && !brings_token(request, access.token)) {
    response.set_header("WWW-Authenticate", "Bearer");
    give(response,
         error_answer(401, "untrusted", "Authorization: Bearer TOKEN is missing or wrong"));
    return kHandled;
  }
  if (access.token.empty() && !names_this_machine(request)) {
    give(response, error_answer(403, "untrusted", "the Host of the request is not this machine"));
    return kHandled;
  }
  return httplib::Server::HandlerResponse::Unhandled;
}

WebQuery query_of(const httplib::Request& request) {
  return {request.path, {request.params.begin(), request.params.end()}};
}

// httplib's own would let a second server share the port.
void allow_restart(socket_t fd) {
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

void add_routes(httplib::Server& server, const WebSources& sources) {
  server.Get("/metrics", [&sources](const httplib::Request&, httplib::Response& response) {
    const Result<std::string> text = sources.metrics();
    if (!text.ok()) return give(response, error_answer(text.error()));
    response.set_content(*text, kOpenMetricsType);
  });
  server.Get("/healthz", [&sources](const httplib::Request&, httplib::Response& response) {
    give(response, health_answer(sources.health()));
  });
  server.Get("/api/v1/.*",
             [&sources](const httplib::Request& request, httplib::Response& response) {
               give(response, answer_query(query_of(request), sources.ask));
             });
  server.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty()) return;
    give(response, error_answer(response.status, "not_found", "no page " + request.path));
  });
  server.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
        give(response, error_answer(500, "internal", "the answer could not be made"));
      });
}

}  // namespace

WebServer::WebServer(Started, std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<WebServer>> WebServer::start(const WebOptions& options, WebSources sources) {
  auto parts = std::make_unique<Parts>();
  TRY(parts->access, check_web_options(options));
  parts->sources = std::move(sources);
  httplib::Server& server = parts->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_socket_options(allow_restart);
  server.set_keep_alive_timeout(kIdleSeconds);
  server.set_read_timeout(kIdleSeconds);
  server.set_write_timeout(kIdleSeconds);
  server.set_payload_max_length(1 << 16);
  server.set_pre_routing_handler(
      [&access = parts->access](const httplib::Request& request, httplib::Response& response) {
        return admit(access, request, response);
      });
  add_routes(server, parts->sources);
  WebAddress& address = parts->access.address;
  const bool bound = address.port == 0 ? (address.port = server.bind_to_any_port(address.host)) > 0
                                       : server.bind_to_port(address.host, address.port);
  if (!bound)
    return Error{ErrorCode::unavailable,
                 "HTTP address " + options.address +
                     " cannot be listened on: taken, or not of this machine"};
  const std::string host =
      address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
  parts->address = "http://" + host + ":" + std::to_string(address.port);
  parts->thread = std::thread([&server] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();  // a stop before that would be lost
  return std::make_unique<WebServer>(Started(), std::move(parts));
}

WebServer::~WebServer() {
  parts_->server.stop();
  parts_->thread.join();
}

const std::string& WebServer::address() const {
  return parts_->address;
}

}  // namespace enginery
