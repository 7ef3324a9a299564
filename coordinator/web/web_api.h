// What /api/v1 and /healthz answer: the documents of the command line's --json.
//
// Where: WebServer hands a request's path and parameters in and sends out what comes back; nothing
// here knows HTTP beyond that. Threads: free functions without state.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "schemas/messages.h"

namespace enginery {

struct WebQuery {
  std::string path;                               // "/api/v1/jobs/j7"
  std::map<std::string, std::string> parameters;  // "limit" -> "10"
};

struct WebAnswer {
  int status = 200;
  std::string json;
};

// The answer to a question, whose kind it asks of the farm.
WebAnswer answer_query(const WebQuery& query, const std::function<Result<Body>(Body)>& ask);

// 200 and enginery.health/1, or 503 with the reason.
WebAnswer health_answer(const Status& health);

// enginery.error/1 with the status that an error comes to: not_found 404, usage 400, unavailable
// and timed_out 503, everything else 500.
WebAnswer error_answer(const Error& error);
WebAnswer error_answer(int status, const std::string& code, const std::string& message);

}  // namespace enginery
