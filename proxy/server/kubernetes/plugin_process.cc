#include "proxy/server/kubernetes/plugin_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "proxy/base/text.h"

namespace sluice::server {
namespace {

std::string reasonOf(int error) { return std::generic_category().message(error); }

/// Returns the variables of this process, with those of the plugin in their place.
std::vector<std::string> environmentFor(const kubernetes::CredentialPlugin& plugin) {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable(*each);
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool isReplaced = std::any_of(plugin.environment.begin(), plugin.environment.end(),
                                        [&](const auto& own) { return own.first == name; });
    if (!isReplaced) variables.emplace_back(variable);
  }
  for (const auto& [name, value] : plugin.environment) variables.push_back(name + "=" + value);
  return variables;
}

/// Returns the texts as C takes them. They must outlive the result.
std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& each : texts) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The standard streams and the signals of a plugin.
class PluginSetup {
 public:
  explicit PluginSetup(int output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t usual;
    ::sigemptyset(&none);
    ::sigemptyset(&usual);
    ::sigaddset(&usual, SIGPIPE);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~PluginSetup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  PluginSetup(const PluginSetup&) = delete;
  PluginSetup& operator=(const PluginSetup&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// A plugin that runs. It is killed and waited for at the end.
class PluginProcess {
 public:
  PluginProcess(const kubernetes::CredentialPlugin& plugin, const PluginBounds& bounds)
      : bounds_(bounds), deadline_(clock_.now() + bounds.patience) {
    error_ = start(plugin);
  }
  ~PluginProcess() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      static_cast<void>(wait());
    }
    for (const int each : {output_, handle_}) {
      if (each >= 0) ::close(each);
    }
  }
  PluginProcess(const PluginProcess&) = delete;
  PluginProcess& operator=(const PluginProcess&) = delete;

  /// Returns why it could not be started; 0 if it was.
  int error() const { return error_; }

  /// Returns what it prints until it ends. The error continues its name.
  base::Result<base::Secret> output() {
    // One buffer of the right size leaves no copies of a secret behind.
    std::string text(bounds_.bytes + 1, '\0');
    std::size_t held = 0;
    for (bool reads = true; reads;) {
      // The pipe is looked at last, so that nothing is missed that was written before the end.
      pollfd ready[] = {{handle_, POLLIN, 0}, {output_, POLLIN, 0}};
      if (!await(ready, 2)) return tooSlow();
      // Processes that it has started may keep the pipe open, so its own end is enough.
      if (ready[1].revents == 0 && ready[0].revents != 0) break;
      const ssize_t count = ::read(output_, text.data() + held, text.size() - held);
      if (count < 0 && errno == EINTR) continue;
      reads = count > 0;
      if (count > 0) held += static_cast<std::size_t>(count);
      if (held > bounds_.bytes)
        return base::Error::config("prints more than " + std::to_string(bounds_.bytes) + " bytes");
    }
    text.resize(held);
    base::Secret secret(std::move(text));
    pollfd ended{handle_, POLLIN, 0};
    if (!await(&ended, 1)) return tooSlow();
    const int status = wait();
    pid_ = 0;
    if (WIFSIGNALED(status)) return base::Error::config("was ended by signal " + std::to_string(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
      return base::Error::config("ended with exit code " + std::to_string(WEXITSTATUS(status)) +
                                 ", and its own messages say why");
    return secret;
  }

 private:
  int start(const kubernetes::CredentialPlugin& plugin) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
    output_ = ends[0];
    std::vector<std::string> words = plugin.arguments;
    words.insert(words.begin(), plugin.command);
    std::vector<std::string> variables = environmentFor(plugin);
    const PluginSetup setup(ends[1]);
    const int failed = ::posix_spawnp(&pid_, plugin.command.c_str(), setup.actions(), setup.attributes(),
                                      pointersTo(words).data(), pointersTo(variables).data());
    ::close(ends[1]);
    if (failed != 0) {
      pid_ = 0;
      return failed;
    }
    // The C library declares pidfd_open() without C linkage, so that C++ cannot link to it.
    handle_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    return handle_ >= 0 ? 0 : errno;
  }

  /// Returns false if nothing happens before the deadline.
  bool await(pollfd* all, nfds_t count) const {
    for (;;) {
      const base::Duration left = deadline_ - clock_.now();
      const auto most = std::chrono::ceil<std::chrono::milliseconds>(std::max(left, base::Duration::zero()));
      const int ready = ::poll(all, count, static_cast<int>(most.count()));
      if (ready > 0) return true;
      if (ready == 0 || errno != EINTR) return false;
    }
  }

  int wait() const {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  base::Error tooSlow() const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(bounds_.patience).count();
    return base::Error::config("has not ended within " + std::to_string(seconds) + " seconds");
  }

  const PluginBounds bounds_;
  const base::SystemClock clock_;
  const base::MonotonicTime deadline_;
  pid_t pid_ = 0;
  int output_ = -1;
  int handle_ = -1;  // of the process
  int error_ = 0;
};

}  // namespace

base::Result<base::Secret> runPlugin(const kubernetes::CredentialPlugin& plugin, const PluginBounds& bounds) {
  const std::string name = "the credential plugin " + base::quote(plugin.command) + " ";
  PluginProcess process(plugin, bounds);
  if (process.error() != 0) {
    return base::Error::config(name + "cannot be run: " + reasonOf(process.error()) +
                               (plugin.installHint.empty() ? "" : "; its hint: " + base::quote(plugin.installHint)));
  }
  base::Result<base::Secret> output = process.output();
  if (!output) return base::Error::config(name + output.error().detail);
  return output;
}

}  // namespace sluice::server
