// A protocol between the gateway and external processors: gRPC messages that tell a server of parts, and its answers.
//
// Implementations are stateless, have static lifetime, and alone see the classes that their .proto generates.
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

/// An Introduction is what the first message of a stream says besides its part.
struct Introduction {
  const ProcessingModes& modes;
  /// What writeContext() has written; empty if there is nothing to say.
  std::string_view context;
  const processing::Place& place;
};

/// One message to a server.
struct Statement {
  Part part;
  bool ends = false;  // nothing of this request or response follows
  /// The heads of the exchange, and of its response if there is one; read for their own parts.
  const http::RequestHead* request = nullptr;
  const http::ResponseHead* response = nullptr;
  const http::Headers* trailers = nullptr;
  std::string body = {};
  const Introduction* introduction = nullptr;  // null behind the first message
  content::Value attributes = {};              // a map; null if there are none
  std::string_view transaction = {};           // names the exchange
  bool observed = false;                       // no answer is awaited
};

class Protocol {
 public:
  /// Returns the path of the gRPC method, a stream in both directions.
  virtual std::string_view path() const = 0;
  virtual std::string write(const Statement& statement) const = 0;
  /// Returns the values for the server, a map or null, as the first message of each stream holds them: they are
  /// written once, and not for each request.
  virtual std::string writeContext(const content::Value& context) const = 0;
  /// Reads an answer. `oldest` is the part that has waited longest for one, for protocols whose answers name none.
  /// Errors are the processor's, and say what is wrong with the answer: bytes that are no message, no answer or an
  /// unknown one, names or values of fields outside RFC 9110's grammar, a status that no answer may have, more than
  /// HeaderChanges takes.
  virtual base::Result<ServerAnswer> read(std::string_view message, Part oldest) const = 0;

 protected:
  ~Protocol() = default;
};

/// envoy.service.ext_proc.v3.ExternalProcessor
const Protocol& externalProcessor();
/// gateway.payloadprocessing.v1alpha1.PayloadProcessor
const Protocol& payloadProcessor();

}  // namespace sluice::filters::ext_proc
