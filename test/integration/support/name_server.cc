#include "test/integration/support/name_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "test/integration/support/blocking_socket.h"

namespace sluice::test {

NameServer::NameServer(const Records& records, int ttl) : ttl_(ttl), port_(freePort()) {
  write(records);
  start();
}

void NameServer::start() {
  std::vector<std::string> argv = {"dnsmasq",
                                   "--keep-in-foreground",
                                   "--conf-file=/dev/null",
                                   "--pid-file=",
                                   "--port=" + std::to_string(port_),
                                   "--listen-address=127.0.0.1",
                                   "--bind-interfaces",
                                   "--no-resolv",
                                   "--no-hosts",
                                   "--addn-hosts=" + folder_.path() + "/hosts",
                                   "--local=/test/",
                                   "--local-ttl=" + std::to_string(ttl_),
                                   "--log-queries",
                                   "--log-facility=-"};
  // As root, dnsmasq would switch to the user nobody, who may not read the folder.
  if (geteuid() == 0) argv.emplace_back("--user=root");
  process_ = std::make_unique<ChildProcess>(argv);
  if (!process_->waitForLine("read " + folder_.path()))
    ADD_FAILURE() << "dnsmasq does not serve:\n" << process_->errors();
}

int NameServer::asked(const std::string& name) const {
  // dnsmasq answers before it writes its log. The statistics that it logs on this signal come after all earlier lines.
  awaitAnother("queries forwarded", SIGUSR1);
  return static_cast<int>(process_->said("query[A] " + name + " from"));
}

void NameServer::change(const Records& records) {
  write(records);
  awaitAnother("read " + folder_.path(), SIGHUP);
}

void NameServer::awaitAnother(const std::string& line, int signal) const {
  const std::size_t before = process_->said(line);
  process_->signal(signal);
  if (!process_->waitUntilSaid(line, before + 1)) {
    ADD_FAILURE() << "dnsmasq does not say \"" << line << "\":\n" << process_->errors();
  }
}

void NameServer::die() {
  process_->signal(SIGKILL);
  process_->wait();
}

void NameServer::write(const Records& records) const {
  std::string text;
  for (const auto& [name, addresses] : records) {
    for (const std::string& address : addresses) text += address + " " + name + "\n";
  }
  folder_.write("hosts", text);
}

}  // namespace sluice::test
