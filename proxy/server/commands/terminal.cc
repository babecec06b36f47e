#include "proxy/server/commands/terminal.h"

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <string>

#include "proxy/server/commands/output_format.h"

namespace sluice::server {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // the other screen, no cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr char kCtrlC = 3;

}  // namespace

bool Terminal::isThere() { return ::isatty(STDOUT_FILENO) == 1; }

Terminal::Terminal() : hasKeys_(::isatty(STDIN_FILENO) == 1) {
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) ::sigaddset(&watched, each);
  ::sigprocmask(SIG_BLOCK, &watched, &maskBefore_);
  signals_ = ::signalfd(-1, &watched, SFD_CLOEXEC);
  if (hasKeys_) {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  print(kEnter);
}

Terminal::~Terminal() {
  print(kLeave);
  if (hasKeys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  if (signals_ >= 0) ::close(signals_);
  ::sigprocmask(SIG_SETMASK, &maskBefore_, nullptr);
}

Terminal::Size Terminal::size() {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
  return {window.ws_col, window.ws_row};
}

std::vector<int> Terminal::inputs() const {
  std::vector<int> inputs;
  if (signals_ >= 0) inputs.push_back(signals_);
  if (hasKeys_) inputs.push_back(STDIN_FILENO);
  return inputs;
}

Terminal::TerminalKey Terminal::read(int descriptor) const {
  if (descriptor == signals_) {
    signalfd_siginfo signal{};
    const bool isRead = ::read(signals_, &signal, sizeof signal) == sizeof signal;
    return isRead && signal.ssi_signo == SIGWINCH ? TerminalKey::kResized : TerminalKey::kQuit;
  }
  char keys[16];
  const ssize_t count = ::read(descriptor, keys, sizeof keys);
  if (count <= 0) return TerminalKey::kQuit;  // the terminal has gone
  const std::string_view text(keys, static_cast<std::size_t>(count));
  if (text[0] == 'q' || text[0] == kCtrlC) return TerminalKey::kQuit;
  if (text[0] == 'j' || text == "\x1b[B") return TerminalKey::kDown;
  if (text[0] == 'k' || text == "\x1b[A") return TerminalKey::kUp;
  if (text[0] == ' ' || text == "\x1b[6~") return TerminalKey::kPageDown;
  if (text[0] == 'b' || text == "\x1b[5~") return TerminalKey::kPageUp;
  return TerminalKey::kNone;
}

void Terminal::show(std::string_view text) {
  std::string out = "\x1b[H";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out.append(line).append("\x1b[K");  // the rest of the line is empty
    text.remove_prefix(line.size());
    if (text.empty()) break;
    text.remove_prefix(1);
    if (!text.empty()) out.append("\r\n");
  }
  print(out.append("\x1b[J"));  // and the rest of the screen
}

}  // namespace sluice::server
