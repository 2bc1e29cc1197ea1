import Foundation
import IndoorLocalizationTesting
import LoopbackServers

/// A real Chromium without a window, which a test controls over the DevTools protocol.
///
/// It has a temporary profile and ends with the test program, also after a crash of that.
final class Browser: Sendable {
    struct NotStarted: Error, CustomStringConvertible {
        let reason: String
        var description: String { "Chromium did not start: \(reason)" }
    }

    /// The folder of the profile and of all other files that the browser writes.
    let folder: String
    let pipe: DevToolsPipe
    private let processIdentifier: Int32

    private struct Context: Decodable { var browserContextId: String }
    private struct Target: Decodable { var targetId: String }
    private struct Attachment: Decodable { var sessionId: String }

    /// Runs the program of its arguments with the pipes of DevTools, which are descriptor 3 and 4, and removes the folder
    /// afterwards: the shell outlives a test program that crashes.
    private static let script = #"folder=$1; shift; "$@" 3<&0 4>&1 0</dev/null 1>&2; rm -rf "$folder""#

    /// The settings of each start: no window, no graphics card, no traffic of its own, no slower timers in the
    /// background. Chromium's own sandbox needs rights that a container lacks; the tests open only their own pages.
    private static let flags = [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad",
        "--disable-crash-reporter", "--disable-extensions", "--disable-background-timer-throttling",
        "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "--disable-dev-shm-usage",
        "--force-color-profile=srgb", "--hide-scrollbars", "--mute-audio", "--no-proxy-server",
        "--password-store=basic",
        // Fewer processes: each of them takes time to start and to exchange messages with the others.
        "--renderer-process-limit=1", "--disable-site-isolation-trials", "--in-process-gpu",
    ]

    /// Starts a browser, and returns once it answers.
    ///
    /// - Parameter launcher: a program with its arguments that starts the browser, such as `taskset -c 0`.
    init(launcher: [String] = []) throws {
        let program = ["/usr/bin/chromium", "/usr/local/bin/chromium"].first(
            where: FileManager.default.isExecutableFile(atPath:))
        guard let program else { throw NotStarted(reason: "install chromium") }
        folder = FileManager.default.temporaryDirectory.path + "/browser-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            ["-c", Self.script, "sh", folder] + launcher + [program, "--user-data-dir=\(folder)/profile"] + Self.flags
        // Chromium also writes to the home folder and to the folder of temporary files.
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("XDG_") }
        for name in ["HOME", "TMPDIR"] { environment[name] = folder }
        process.environment = environment
        process.currentDirectoryURL = URL(filePath: folder)
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try ProcessSignals.withAll { try process.run() }
        try? output.fileHandleForWriting.close()
        try? input.fileHandleForReading.close()
        processIdentifier = process.processIdentifier
        pipe = DevToolsPipe(reader: output.fileHandleForReading, writer: input.fileHandleForWriting)
        do {
            try pipe.send("Browser.getVersion")
        } catch {
            end()
            throw NotStarted(reason: "\(error) Run \(program) \(Self.flags.joined(separator: " ")) by hand.")
        }
    }

    deinit { end() }

    /// Ends the browser and all its processes, and removes its files.
    func end() {
        pipe.close()
        if !pipe.waitForEnd(within: 20) {
            // The shell is the leader of a process group.
            kill(-processIdentifier, SIGKILL)
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Opens an empty page with cookies and storage of its own.
    func newPage() throws -> BrowserPage {
        let context = try pipe.send("Target.createBrowserContext", as: Context.self).browserContextId
        let target = try pipe.send(
            "Target.createTarget", ["url": "about:blank", "browserContextId": .string(context)], as: Target.self)
        let session = try pipe.send(
            "Target.attachToTarget", ["targetId": .string(target.targetId), "flatten": true], as: Attachment.self)
        let page = BrowserPage(pipe: pipe, session: session.sessionId, context: context)
        for domain in ["Page", "Runtime", "Log", "Network"] { try page.send("\(domain).enable") }
        return page
    }
}
