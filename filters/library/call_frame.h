// One call of a library about a step, and what the library has said in it so far.
//
// It lives on the stack of the worker while the library is called. The functions of the gateway's side of the interface
// (host_functions.h) read and write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "filters/library/sluice_processor.h"
#include "proxy/processing/call.h"
#include "proxy/processing/verdict.h"

namespace sluice::filters::library {

/// The state of a step between its calls.
struct StepMemory {
  void* kept = nullptr;      // the library's own
  std::uint64_t handle = 0;  // by which the step may be called again; 0: none
  unsigned records = 0;      // lines that it has written into the log
};

/// The use for which a library is called.
struct LibraryUseName {
  std::string type;  // "domain/Kind:version"
  std::string name;
};

struct CallFrame {
  processing::Call& call;
  const processing::Peer& peer;
  StepMemory& memory;
  const LibraryUseName& use;
  std::string failure = {};                               // the reason that the library gave
  std::optional<processing::Reply> reply = std::nullopt;  // the answer that it made
  std::string fault = {};  // how it broke the rules of the interface; empty if it did not

  bool isOfResponse() const { return call.response != nullptr; }
  const http::Headers& headers() const { return isOfResponse() ? call.response->headers : call.request.headers; }
  /// Returns the text, or nullopt and notes the fault if no text can be like that. `most` is in bytes.
  std::optional<std::string_view> text(const char* bytes, std::size_t size, std::size_t most, std::string_view what) {
    if (size == 0) return std::string_view();
    if (bytes != nullptr && size <= most) return std::string_view(bytes, size);
    blame(bytes, size, what);
    return std::nullopt;
  }

 private:
  void blame(const char* bytes, std::size_t size, std::string_view what);
};

}  // namespace sluice::filters::library

/// The type that the interface declares.
struct sluice_call final : sluice::filters::library::CallFrame {};
