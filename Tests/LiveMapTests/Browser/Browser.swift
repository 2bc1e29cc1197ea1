import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import Synchronization
import XCTest

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
    private let isWindowTaken = Flag()

    /// A value that threads share.
    private final class Flag: Sendable {
        private let value = Mutex(false)

        func set(_ value: Bool) { self.value.withLock { $0 = value } }

        /// Sets the value, and returns the one before.
        func exchange(_ value: Bool) -> Bool {
            self.value.withLock { before in
                defer { before = value }
                return before
            }
        }
    }

    private struct Context: Decodable { var browserContextId: String }
    private struct Target: Decodable { var targetId: String }
    private struct Attachment: Decodable { var sessionId: String }

    /// Runs the program of its arguments with the pipes of DevTools, which are descriptor 3 and 4, and removes the folder
    /// afterwards: the shell outlives a test program that crashes. A process of a page that ends later can still write.
    private static let script = #"""
        folder=$1; shift; "$@" 3<&0 4>&1 0</dev/null 1>&2
        turns=0; until rm -rf "$folder" || [ $turns -ge 300 ]; do turns=$((turns + 1)); sleep 0.1; done
        """#

    /// Chromium's headless shell takes a third of the time to start. Not all distributions have it.
    private static let programs = [
        "/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/local/bin/chromium",
    ]

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

    /// The limits of the pages for an answer of the server are for a machine that isn't busy with other tests.
    private static let patience = """
        {
            const limit = AbortSignal.timeout.bind(AbortSignal);
            AbortSignal.timeout = (milliseconds) => limit(10 * milliseconds);
        }
        """

    /// Starts a browser, and returns once it answers.
    ///
    /// - Parameter launcher: a program with its arguments that starts the browser, such as `taskset -c 0`.
    init(launcher: [String] = []) throws {
        let program = Self.programs.first(where: FileManager.default.isExecutableFile(atPath:))
        guard let program else { throw NotStarted(reason: "install chromium-headless-shell or chromium") }
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
        if !pipe.waitForEnd(within: DevToolsPipe.bound) {
            // The shell is the leader of a process group.
            kill(-processIdentifier, SIGKILL)
            // A killed process can still write until it has ended.
            _ = pipe.waitForEnd(within: DevToolsPipe.bound)
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Opens an empty page with cookies and storage of its own.
    ///
    /// A page beside an open one gets a context. Another page gets a tab of the browser's window, whose cookies and storage the
    /// page before has deleted: the window and the process of a context take several times as long.
    func newPage() throws -> BrowserPage {
        let isTab = !isWindowTaken.exchange(true)
        var parameters: [String: DevToolsValue] = ["url": "about:blank"]
        var context: String?
        if !isTab {
            let made = try pipe.send("Target.createBrowserContext", as: Context.self).browserContextId
            parameters["browserContextId"] = .string(made)
            context = made
        }
        let target = try pipe.send("Target.createTarget", .object(parameters), as: Target.self).targetId
        let session = try pipe.send(
            "Target.attachToTarget", ["targetId": .string(target), "flatten": true], as: Attachment.self)
        let page = BrowserPage(
            pipe: pipe, session: session.sessionId, target: target, context: context,
            whenEmptied: { [isWindowTaken] in isWindowTaken.set(false) })
        for domain in ["Page", "Runtime", "Log", "Network"] { try page.send("\(domain).enable") }
        try page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(Self.patience)])
        return page
    }
}

/// A DevTools connection to a browser through two pipes: JSON messages, each followed by a NUL byte.
///
/// The source of the framing is `--remote-debugging-pipe` in Chromium's `content/browser/devtools/devtools_pipe_handler.cc`.
/// Pipes need no port that another process could occupy, no WebSocket, and no file from which to read the port. The
/// browser ends when its pipe closes, so it also ends with a test program that crashes.
final class DevToolsPipe: Sendable {
    enum Failure: Error, CustomStringConvertible {
        case closed(during: String)
        case tooSlow(String)
        case refused(String, reason: String)
        case unreadable(String, reason: String)

        var description: String {
            switch self {
            case .closed(let call): "The browser closed its pipe during \(call)."
            case .tooSlow(let call): "\(call) did not occur within \(Int(DevToolsPipe.bound)) s."
            case .refused(let call, let reason): "The browser refused \(call): \(reason)"
            case .unreadable(let call, let reason): "The result of \(call) has an unexpected form: \(reason)"
            }
        }
    }

    /// An event of a page.
    struct Event {
        var method: String
        /// The whole message.
        var message: Data
    }

    /// The time limit of each wait in seconds. The start of a browser on a busy machine takes up to 20 s, and a simulation
    /// for a page several minutes.
    static let bound = 240.0

    private struct State {
        var lastID = 0
        /// Replies by the identifier of their command.
        var replies: [Int: Data] = [:]
        /// Events by session.
        var events: [String: [Event]] = [:]
        var hasEnded = false
    }

    private struct Header: Decodable {
        var id: Int?
        var method: String?
        var sessionId: String?
    }

    private struct Command: Encodable {
        var id: Int
        var method: String
        var params: DevToolsValue
        var sessionId: String?
    }

    private struct Reply<Result: Decodable>: Decodable {
        struct Problem: Decodable { var message: String }
        var result: Result?
        var error: Problem?
    }

    /// An empty result.
    struct Nothing: Decodable {}

    private static let end = Data([0])

    private let writer: FileHandle
    private let state = Mutex(State())
    private let change = NSCondition()

    /// - Parameters:
    ///   - reader: the end of the pipe from the browser.
    ///   - writer: the end of the pipe to the browser.
    init(reader: FileHandle, writer: FileHandle) {
        self.writer = writer
        Thread.detachNewThread { [self] in
            var rest = Data()
            while true {
                let part = reader.availableData
                guard !part.isEmpty else { break }
                rest += part
                // Only the new part can contain the end of a message; the older part can be long. An image has millions of
                // bytes, which Foundation compares many times faster than a collection's methods without optimization.
                guard part.range(of: Self.end) != nil else { continue }
                while let end = rest.range(of: Self.end) {
                    receive(Data(rest[..<end.lowerBound]))
                    rest = Data(rest[end.upperBound...])
                }
            }
            update { $0.hasEnded = true }
        }
    }

    /// Sends a command and returns its result.
    ///
    /// - Parameter session: the session of a page; nil for the browser itself.
    func send<Result: Decodable>(
        _ method: String, _ parameters: DevToolsValue = [:], session: String? = nil, as type: Result.Type
    ) throws -> Result {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let command = Command(id: id, method: method, params: parameters, sessionId: session)
        try writer.write(contentsOf: try JSONEncoder().encode(command) + [0])
        let message = try wait(for: method) { $0.replies.removeValue(forKey: id) }
        let reply: Reply<Result>
        do {
            reply = try JSONDecoder().decode(Reply<Result>.self, from: message)
        } catch {
            let start = String(decoding: message.prefix(500), as: UTF8.self)
            throw Failure.unreadable(method, reason: "\(error) in \(start)")
        }
        if let problem = reply.error { throw Failure.refused(method, reason: problem.message) }
        guard let result = reply.result else { throw Failure.unreadable(method, reason: "no result") }
        return result
    }

    /// Sends a command whose result is of no interest.
    func send(_ method: String, _ parameters: DevToolsValue = [:], session: String? = nil) throws {
        _ = try send(method, parameters, session: session, as: Nothing.self)
    }

    /// The events of a session so far.
    func events(of session: String) -> [Event] { state.withLock { $0.events[session] ?? [] } }

    /// Waits for an event of a session from `index` on, and returns its index.
    @discardableResult
    func waitForEvent(
        _ method: String, of session: String, from index: Int, where isAwaited: (Event) -> Bool = { _ in true }
    ) throws -> Int {
        try wait(for: method) { state in
            let events = state.events[session] ?? []
            return events.indices.dropFirst(index).first { events[$0].method == method && isAwaited(events[$0]) }
        }
    }

    /// Closes the pipe, on which the browser ends.
    func close() { try? writer.close() }

    /// Waits for the end of the browser; returns false after `seconds`.
    func waitForEnd(within seconds: Double) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        return change.withLock {
            while !state.withLock({ $0.hasEnded }) {
                guard change.wait(until: deadline) else { return false }
            }
            return true
        }
    }

    private func wait<Value>(for awaited: String, _ condition: (inout sending State) -> Value?) throws -> Value {
        let deadline = Date(timeIntervalSinceNow: Self.bound)
        return try change.withLock {
            while true {
                if let value = state.withLock({ condition(&$0) }) { return value }
                guard !state.withLock({ $0.hasEnded }) else { throw Failure.closed(during: awaited) }
                guard change.wait(until: deadline) else { throw Failure.tooSlow(awaited) }
            }
        }
    }

    private func receive(_ message: Data) {
        guard let header = try? JSONDecoder().decode(Header.self, from: message) else { return }
        update { state in
            if let id = header.id {
                state.replies[id] = message
            } else if let method = header.method, let session = header.sessionId {
                state.events[session, default: []].append(Event(method: method, message: message))
            }
        }
    }

    private func update(_ body: (inout State) -> Void) {
        change.withLock {
            state.withLock { body(&$0) }
            change.broadcast()
        }
    }
}

/// A value in the parameters of a DevTools command.
enum DevToolsValue: Encodable, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([DevToolsValue])
    case object([String: DevToolsValue])

    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(integerLiteral value: Int) { self = .number(Double(value)) }
    init(floatLiteral value: Double) { self = .number(value) }
    init(stringLiteral value: String) { self = .string(value) }
    init(arrayLiteral elements: DevToolsValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, DevToolsValue)...) {
        self = .object(Dictionary(uniqueKeysWithValues: elements))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let value): try container.encode(value)
        // The protocol refuses 1.0 for an integer.
        case .number(let value):
            if let integer = Int(exactly: value) {
                try container.encode(integer)
            } else {
                try container.encode(value)
            }
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }
}

/// A process of the built command line tool.
final class ToolProcess {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process = Process()
    private let output = Pipe()

    /// Starts the tool in the root of the checkout.
    init(_ arguments: [String]) throws {
        // The tool is in the folder of the test program.
        let program = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let tool = program.resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "indoorloc")
        guard FileManager.default.isExecutableFile(atPath: tool.path) else {
            throw Failure(description: "\(tool.path) is missing: build the product indoorloc")
        }
        process.executableURL = tool
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: try FixtureFolder(".").path).appending(path: "..")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try ProcessSignals.withAll { try process.run() }
        try? output.fileHandleForWriting.close()
    }

    deinit { kill() }

    /// Ends the process at once, without a chance for it to close anything.
    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Waits for the first line of the output.
    func firstLine() throws -> String {
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Waits for the end, and returns the exit status.
    func end() throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(DevToolsPipe.bound)
        while process.isRunning {
            guard ContinuousClock.now < deadline else {
                throw Failure(description: "indoorloc \(process.arguments ?? []) has not ended")
            }
            poll(nil, 0, 5)
        }
        return process.terminationStatus
    }
}

/// Tests that share one browser, each with pages of its own.
class BrowserTestCase: XCTestCase {
    private static let shared = Mutex<Browser?>(nil)

    override class func tearDown() {
        shared.withLock { $0.take() }?.end()
        super.tearDown()
    }

    /// The browser of this class, which the first call starts.
    ///
    /// The environment variable `BROWSER_LAUNCHER` can have the words of a command that starts it, such as
    /// `taskset -c 0`.
    func browser() throws -> Browser {
        try Self.shared.withLock { shared in
            let launcher = ProcessInfo.processInfo.environment["BROWSER_LAUNCHER"] ?? ""
            let browser = try shared ?? Browser(launcher: launcher.split(separator: " ").map(String.init))
            shared = browser
            return browser
        }
    }

    /// Opens a page, which is closed after the test.
    ///
    /// - Parameter url: the document; nil for an empty page.
    func page(_ url: String? = nil) throws -> BrowserPage {
        let page = try browser().newPage()
        addTeardownBlock { page.close() }
        if let url { try page.open(url) }
        return page
    }

    /// Opens a page with a document.
    func page(html: String) throws -> BrowserPage {
        try page("data:text/html;charset=utf-8;base64,\(Data(html.utf8).base64EncodedString())")
    }
}
