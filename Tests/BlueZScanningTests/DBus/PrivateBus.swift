import BlueZScanning
import Dispatch
import Foundation
import XCTest

/// A message bus of a test's own: the real dbus-daemon on a socket in a temporary folder.
final class PrivateBus {
    /// Where it is, as libdbus wants it.
    let address: String
    private let folder: URL
    private let process = Process()

    /// Starts the daemon and waits until it says that it listens.
    ///
    /// - Parameter policy: rules that follow after "everybody may do everything".
    init(policy: String = "", in folder: URL? = nil) throws {
        self.folder = try folder ?? Self.makeFolder()
        let configuration = self.folder.appendingPathComponent("bus.conf")
        // A name that is short: the path of a socket has 107 bytes at most.
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
        // It prints its address once it listens, and closes the pipe if it ends.
        let printed = output.fileHandleForReading.availableData
        guard !printed.isEmpty else { throw BusSetupError("dbus-daemon ended without listening") }
    }

    /// Kills the daemon and starts another one at the same place.
    func restarted() throws -> PrivateBus {
        kill()
        return try PrivateBus(in: folder)
    }

    /// Kills the daemon, which gives nobody notice.
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

/// Why a test cannot be set up; it fails then.
struct BusSetupError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
