// The terminal that a command draws on: it takes the whole screen, and keys without a line end, until it goes. Then it
// is as it was before, whichever way the command ends.
//
// One thread. Signals that would end the process are blocked meanwhile, and are read like keys.
#pragma once

#include <termios.h>

#include <csignal>
#include <cstddef>
#include <string_view>
#include <vector>

namespace sluice::server {

class Terminal {
 public:
  enum class TerminalKey : unsigned char { kNone, kQuit, kDown, kUp, kPageDown, kPageUp, kResized };
  struct Size {
    std::size_t columns = 80;
    std::size_t rows = 24;
  };

  /// Returns true if standard output is a terminal.
  static bool isThere();
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  static Size size();
  /// Returns the descriptors that are readable when a key or signal has come.
  std::vector<int> inputs() const;
  /// Reads one of them.
  TerminalKey read(int descriptor) const;
  /// Shows the text, which has a line end after each of its lines, from the left upper corner on.
  static void show(std::string_view text);

 private:
  const bool hasKeys_;  // standard input is a terminal, too
  termios before_{};
  sigset_t maskBefore_{};
  int signals_ = -1;
};

}  // namespace sluice::server
