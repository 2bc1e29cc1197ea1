import Foundation
import GPSDReceiving
import IndoorLocalizationTesting
import XCTest

/// The real gpsd on loopback, with a receiver behind it that a test holds in its hands.
final class GPSDaemon {
    /// A port that was free a moment ago.
    let port: UInt16
    private let receiver: LoopbackListener
    private var process: Process?
    private var feed: Task<Void, Never>?

    init() throws {
        receiver = try LoopbackListener()
        port = try LoopbackListener().port
    }

    /// Where a program finds it.
    var source: GPSDSource { GPSDSource(host: "127.0.0.1", port: port) }

    /// Starts gpsd and waits until it has opened the receiver, behind which it listens already.
    func start(_ content: NMEAReceiver) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/gpsd")
        process.arguments = ["-N", "-n", "-S", "\(port)", "tcp://127.0.0.1:\(receiver.port)"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        deliver(content, over: try receiver.accept())
    }

    /// Sends cycle after cycle, at a pace that gpsd can follow.
    private func deliver(_ content: NMEAReceiver, over connection: LoopbackConnection) {
        feed = Task {
            for second in 0... {
                guard connection.send(content.cycle(second % 86_400)) else { return }
                do { try await Task.sleep(for: .milliseconds(50)) } catch { return }
            }
        }
    }

    /// Kills gpsd, which gives nobody notice.
    func kill() {
        feed?.cancel()
        guard let process, process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
