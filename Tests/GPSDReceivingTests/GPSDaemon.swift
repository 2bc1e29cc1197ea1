import Foundation
import GPSDReceiving
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// The real gpsd on loopback, with a receiver that the test controls.
final class GPSDaemon {
    let port: UInt16
    private let receiver: LoopbackListener
    private var process: Process?
    private var feed: Task<Void, Never>?

    init() throws {
        receiver = try LoopbackListener()
        port = try TestPort.free()
    }

    /// The source that connects to the daemon.
    var source: GPSDSource { GPSDSource(host: "127.0.0.1", port: port) }

    /// Starts gpsd and waits until it has opened the receiver; it already listens at that time.
    func start(_ content: NMEAReceiver) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/gpsd")
        process.arguments = ["-N", "-n", "-S", "\(port)", "tcp://127.0.0.1:\(receiver.port)"]
        process.standardError = FileHandle.nullDevice
        try ProcessSignals.withAll { try process.run() }
        self.process = process
        deliver(content, over: try receiver.accept())
    }

    /// Sends cycles at a rate that gpsd can process.
    private func deliver(_ content: NMEAReceiver, over connection: LoopbackConnection) {
        feed = Task {
            for second in 0... {
                guard connection.send(content.cycle(second % 86_400)) else { return }
                do { try await Task.sleep(for: .milliseconds(50)) } catch { return }
            }
        }
    }

    /// Kills gpsd without notice to its clients.
    func kill() {
        feed?.cancel()
        guard let process, process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
