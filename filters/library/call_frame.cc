#include "filters/library/call_frame.h"

namespace sluice::filters::library {

void CallFrame::blame(const char* bytes, std::size_t size, std::string_view what) {
  fault = "the library gave " + std::string(what) + " of " + std::to_string(size) + " bytes" +
          (bytes == nullptr ? " that lie nowhere" : "");
}

}  // namespace sluice::filters::library
