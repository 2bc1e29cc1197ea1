import Foundation
import Synchronization

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

    /// The time limit of each wait in seconds. The start of a browser on a busy machine takes up to 20 s.
    static let bound = 120.0

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
                // Only the new part can contain the end of a message; the older part can be long.
                guard part.contains(0) else { continue }
                var messages = rest.split(separator: 0, omittingEmptySubsequences: false)
                rest = messages.popLast().map { Data($0) } ?? Data()
                messages.forEach { receive(Data($0)) }
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

    /// Waits for an event of a session from `index` on.
    func waitForEvent(_ method: String, of session: String, from index: Int) throws {
        _ = try wait(for: method) { state in
            state.events[session]?.dropFirst(index).first { $0.method == method }
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
