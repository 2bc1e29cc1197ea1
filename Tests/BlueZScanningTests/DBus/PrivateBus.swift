import BlueZScanning
import Dispatch
import Foundation
import XCTest

/// A message bus for one test: the real dbus-daemon on a socket in a temporary folder.
final class PrivateBus {
    /// The address of the bus in libdbus's form.
    let address: String
    private let folder: URL
    private let process = Process()

    /// Starts the daemon and waits until it listens.
    ///
    /// - Parameter policy: Rules that follow the rule that allows everything.
    init(policy: String = "", in folder: URL? = nil) throws {
        self.folder = try folder ?? Self.makeFolder()
        let configuration = self.folder.appendingPathComponent("bus.conf")
        // A short name, because the path of a socket has at most 107 bytes.
        address = "unix:path=\(self.folder.appendingPathComponent("s").path)"
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>test</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
            \(policy)
          </policy>
        </busconfig>
        """.write(to: configuration, atomically: true, encoding: .utf8)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        process.arguments = ["--config-file=\(configuration.path)", "--nofork", "--nopidfile", "--print-address=1"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // The daemon prints its address when it listens, and closes the pipe if it ends.
        let printed = output.fileHandleForReading.availableData
        guard !printed.isEmpty else { throw BusSetupError("dbus-daemon ended without listening") }
    }

    /// Kills the daemon and starts another at the same address.
    func restarted() throws -> PrivateBus {
        kill()
        return try PrivateBus(in: folder)
    }

    /// Kills the daemon without notice to its clients.
    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func remove() {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bus-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}

/// An error in the setup of a test.
struct BusSetupError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
