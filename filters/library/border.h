// Calls into libraries. An exception that a library lets out, which the interface forbids, ends here if it can be
// caught.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace sluice::filters::library {

/// Returns the result of call(), or `otherwise` if the library threw; `thrown` then says what.
template <typename Result, typename Call>
Result across(Call&& call, Result otherwise, std::string& thrown) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "something that is no std::exception";
  }
  return otherwise;
}

/// Does the same where nothing depends on the outcome.
template <typename Call>
void across(Call&& call) {
  std::string thrown;
  across(
      [&] {
        std::forward<Call>(call)();
        return true;
      },
      true, thrown);
}

}  // namespace sluice::filters::library
