#include "proxy/server/commands/top_command.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/content/member_text.h"
#include "proxy/content/sse.h"
#include "proxy/server/commands/admin_client.h"
#include "proxy/server/commands/output_format.h"
#include "proxy/server/commands/terminal.h"
#include "proxy/server/page/page_text.h"

namespace sluice::server {
namespace {

constexpr const char* kPage = "/page/data";
constexpr std::size_t kMostStateBytes = 16 * 1024 * 1024;
/// The rows of a section on a terminal; on paper, all that the state has.
constexpr std::size_t kRowsOnScreen = 10;

/// Takes the states out of the stream.
class StateReader {
 public:
  /// `take` returns false to end the stream.
  explicit StateReader(std::function<bool(content::Value)> take) : take_(std::move(take)) {}

  bool feed(std::string_view bytes) {
    for (;;) {
      const content::SseParser::Status status = parser_.feed(bytes);
      if (status == content::SseParser::Status::kMore) return true;
      if (status == content::SseParser::Status::kTooLong) {
        failure_ = base::Error::config("the gateway's state is longer than 16 MiB");
        return false;
      }
      if (!parser_.event().data) continue;
      base::Result<content::Value> state = readAdminPage(*parser_.event().data);
      if (!state) {
        failure_ = state.error();
        return false;
      }
      if (!take_(*std::move(state))) return false;
    }
  }
  const std::optional<base::Error>& failure() const { return failure_; }

 private:
  std::function<bool(content::Value)> take_;
  content::SseParser parser_{kMostStateBytes};
  std::optional<base::Error> failure_;
};

int exitCodeOf(const base::Status& followed, const StateReader& reader) {
  if (!followed.ok()) return complain(followed.error());
  return reader.failure() ? complain(*reader.failure()) : 0;
}

/// Prints the first state that has rates, which come with the second look.
int printOnce(const net::Address& admin) {
  std::string text;
  StateReader reader([&text](const content::Value& state) {
    if (content::memberText(state, "rate").empty()) return true;
    for (const PageLine& line : pageLines(state, kMostStateBytes)) text += line.text + "\n";
    return false;
  });
  FollowedPage user;
  user.onBytes = [&reader](std::string_view bytes) { return reader.feed(bytes); };
  const base::Status followed = followAdminPage(admin, kPage, user);
  print(text);
  return exitCodeOf(followed, reader);
}

/// The screen of one run of the command.
class Screen {
 public:
  Screen(const base::Clock& clock, base::Duration interval) : clock_(clock), interval_(interval) {}

  std::vector<int> inputs() const { return terminal_.inputs(); }
  bool take(const content::Value& state) {
    const base::MonotonicTime now = clock_.now();
    // The states come a little late, or early, so some of the interval may be missing.
    if (shown_ && now - *shown_ < interval_ - interval_ / 10) return true;
    shown_ = now;
    lines_ = pageLines(state, kRowsOnScreen);
    draw();
    return true;
  }
  bool onReady(int descriptor) {
    const auto page = static_cast<std::ptrdiff_t>(Terminal::size().rows) - 2;
    switch (terminal_.read(descriptor)) {
      case Terminal::TerminalKey::kQuit:
        return false;
      case Terminal::TerminalKey::kNone:
        return true;
      case Terminal::TerminalKey::kDown:
        move(1);
        break;
      case Terminal::TerminalKey::kUp:
        move(-1);
        break;
      case Terminal::TerminalKey::kPageDown:
        move(page);
        break;
      case Terminal::TerminalKey::kPageUp:
        move(-page);
        break;
      case Terminal::TerminalKey::kResized:
        break;
    }
    draw();
    return true;
  }

 private:
  void move(std::ptrdiff_t lines) {
    const auto last = static_cast<std::ptrdiff_t>(lines_.empty() ? 0 : lines_.size() - 1);
    first_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(first_) + lines, 0, last));
  }
  void draw() {
    const Terminal::Size size = Terminal::size();
    first_ = std::min(first_, lines_.empty() ? 0 : lines_.size() - 1);
    std::string text;
    const std::size_t end = std::min(lines_.size(), first_ + size.rows);
    for (std::size_t i = first_; i < end; ++i) {
      const std::string_view line = cutToColumns(lines_[i].text, size.columns);
      text += lines_[i].isTitle ? "\x1b[1m" + std::string(line) + "\x1b[0m\n" : std::string(line) + "\n";
    }
    Terminal::show(text);
  }

  const base::Clock& clock_;
  const base::Duration interval_;
  Terminal terminal_;
  std::vector<PageLine> lines_;
  std::size_t first_ = 0;  // the line at the top of the screen
  std::optional<base::MonotonicTime> shown_;
};

}  // namespace

int showTop(const net::Address& admin, base::Duration interval) {
  if (!Terminal::isThere()) return printOnce(admin);
  const base::SystemClock clock;
  base::Status followed = base::Done{};
  std::optional<StateReader> reader;
  {
    Screen screen(clock, interval);
    reader.emplace([&screen](const content::Value& state) { return screen.take(state); });
    FollowedPage user;
    user.onBytes = [&reader](std::string_view bytes) { return reader->feed(bytes); };
    user.watched = screen.inputs();
    user.onReady = [&screen](int descriptor) { return screen.onReady(descriptor); };
    followed = followAdminPage(admin, kPage, user);
  }  // the terminal is as it was, and takes the message
  return exitCodeOf(followed, *reader);
}

}  // namespace sluice::server
