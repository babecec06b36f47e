// A TCP server on loopback that runs a dialogue on each of its connections. All servers of this folder are built on it.
// One worker, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/base/beat_table.h"
#include "proxy/base/clock.h"
#include "proxy/net/tcp_listener.h"
#include "proxy/net/transport.h"
#include "proxy/net/worker.h"
#include "test/support/external/dialogue.h"

namespace sluice::external {

class DialogueConnection;
using ConnectionTable = base::BeatTable<DialogueConnection>;

/// One client's connection. Owned by the server's table.
class DialogueConnection final : net::TransportSink {
 public:
  using Handle = base::Handle<DialogueConnection>;

  DialogueConnection(Handle handle, ConnectionTable& table, net::Worker& worker, int fd, const net::Address& peer,
                     const MakeDialogue& make);
  ~DialogueConnection() override = default;

  Handle handle() const { return handle_; }
  /// Sends the dialogue's bytes as far as the peer takes them. While the peer takes nothing, its own bytes are not
  /// read.
  void flush();
  bool dead() const { return dead_; }

  bool dirty = false;  // belongs to the table

 private:
  void onOpen() override {}
  void onBytes(std::string_view bytes) override;
  void onEnd(bool clean) override;
  void onFailed(const base::Error& error) override;
  void onWritable() override { table_.mark(*this); }
  void die();

  const Handle handle_;
  ConnectionTable& table_;
  std::unique_ptr<Dialogue> dialogue_;
  base::ByteQueue out_;
  std::unique_ptr<net::Transport> transport_;
  bool dead_ = false;
};

class DialogueServer final : net::Beats {
 public:
  /// `port` 0 takes a free one.
  static base::Result<std::unique_ptr<DialogueServer>> listen(std::uint16_t port, MakeDialogue make);

  const net::Address& address() const { return socket_.address(); }
  /// Serves until the process ends.
  void run() { worker_.run(); }

 private:
  DialogueServer(net::ListenSocket&& socket, MakeDialogue make);

  void drive() override {}
  void flush() override { connections_.flush(); }
  void reap() override { connections_.reap(); }
  bool quiet() const override { return connections_.quiet(); }

  base::SystemClock clock_;
  net::ListenSocket socket_;
  const MakeDialogue make_;
  net::Worker worker_{clock_};
  ConnectionTable connections_;
  std::optional<net::TcpListener> listener_;
};

/// Is the rest of a program's main(): listens on `port`, prints "listening on PORT", and serves until SIGTERM ends the
/// process. Returns the exit code if it cannot.
int serve(const std::string& program, std::uint16_t port, MakeDialogue make);

}  // namespace sluice::external
