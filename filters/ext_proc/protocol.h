// A protocol between the gateway and external processors: gRPC messages that carry parts to a server, and its answers.
//
// Implementations are stateless, have static lifetime, and are the only code that sees the classes generated from their
// .proto files.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filters/ext_proc/answers.h"
#include "filters/ext_proc/parts.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/http/message.h"
#include "proxy/processing/call.h"

namespace sluice::filters::ext_proc {

/// The content of the first message of a stream besides its part.
struct Introduction {
  const ProcessingModes& modes;
  /// The result of writeContext(); empty if there are no values.
  std::string_view context;
  const processing::Place& place;
};

/// One message to a server.
struct Statement {
  Part part;
  bool ends = false;  // nothing of this request or response follows
  /// The heads of the exchange, and of its response if there is one; read for their own parts. Null for request headers
  /// that the server does not get, because it gets attributes alone.
  const http::RequestHead* request = nullptr;
  const http::ResponseHead* response = nullptr;
  const http::Headers* trailers = nullptr;
  std::string body = {};
  const Introduction* introduction = nullptr;  // null after the first message
  content::Value attributes = {};              // a map; null if there are none
  std::string_view transaction = {};           // the id of the exchange
  bool observed = false;                       // no answer is awaited
};

class Protocol {
 public:
  /// Returns the path of the gRPC method, a stream in both directions.
  virtual std::string_view path() const = 0;
  virtual std::string write(const Statement& statement) const = 0;
  /// Returns the values for the server, a map or null, in the form of the first message of each stream. They are
  /// written once, and not for each request.
  virtual std::string writeContext(const content::Value& context) const = 0;
  /// Reads an answer. `oldest` is the part that has waited longest for one, for protocols whose answers name none.
  /// Errors are the processor's, and name the fault of the answer: bytes that are no message, no answer or an unknown
  /// one, names or values of fields outside RFC 9110's grammar, a status that an answer may not have, or more changes
  /// than HeaderChanges takes.
  virtual base::Result<ServerAnswer> read(std::string_view message, Part oldest) const = 0;

 protected:
  ~Protocol() = default;
};

/// envoy.service.ext_proc.v3.ExternalProcessor
const Protocol& externalProcessor();
/// gateway.payloadprocessing.v1alpha1.PayloadProcessor
const Protocol& payloadProcessor();

}  // namespace sluice::filters::ext_proc
