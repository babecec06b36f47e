// Runs a headless Chromium that tests of the page share: a script connects to it, opens pages, and closes them.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>

#include "test/integration/support/child_process.h"

namespace sluice::test {

class Browser {
 public:
  /// Returns when scripts can connect to it.
  Browser()
      : process_({"chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions",
                  "--disable-background-networking", "--disable-component-update", "--no-first-run",
                  "--user-data-dir=" + profile_.path(), "--remote-debugging-port=0", "about:blank"}) {
    static constexpr std::string_view kMark = "DevTools listening on ";
    const std::optional<std::string> line = process_.waitForLine(kMark);
    EXPECT_TRUE(line) << process_.errors();
    if (line) endpoint_ = line->substr(line->find(kMark) + kMark.size());
  }
  ~Browser() {
    process_.signal(SIGTERM);  // so that it ends its own processes
    process_.wait();
  }

  const std::string& endpoint() const { return endpoint_; }

 private:
  TempDir profile_;
  ChildProcess process_;
  std::string endpoint_;
};

}  // namespace sluice::test
