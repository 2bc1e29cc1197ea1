import Foundation
import LiveMap

/// A page that a command serves to the person who started it, until the command is interrupted.
enum LocalPage {
    /// Opens a page in the default browser.
    static func open(_ url: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["xdg-open", url]
        process.standardOutput = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            StandardError.line("--open: xdg-open can't be started: \(error.localizedDescription)")
        }
    }
}

/// The interruption that ends a command with a page: SIGINT, SIGTERM, or SIGHUP when its terminal is closed.
///
/// From the creation of this value, a signal ends the command in order. Therefore create it before the page's address
/// is known to anyone, and wait when the page is open.
struct PageInterruption {
    /// The signals that end the command. `nohup` ignores SIGHUP, and then it stays ignored.
    static var signals: [Int32] {
        var hangup = sigaction()
        guard sigaction(SIGHUP, nil, &hangup) == 0 else { return [SIGINT, SIGTERM] }
        // Functions can't be compared, but their addresses; both types are a pointer to a C function.
        let handlers = [hangup.__sigaction_handler.sa_handler, SIG_IGN].map { unsafeBitCast($0, to: Int.self) }
        return handlers[0] == handlers[1] ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
    }

    private let work = LiveWork<Never>(tick: .seconds(3600), limit: nil, requests: signals) { _ in
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    /// Waits for the interruption.
    func wait() async {
        try? await work.follow { _ in true }
        await work.stop()
    }
}

extension CommandOption {
    /// `--http` of a page that only this host reaches.
    static let loopbackAddress = CommandOption(
        name: "http", argument: "ADDRESS", help: "loopback HOST:PORT or PORT (default: 127.0.0.1 and a free port)")
    /// `--open` of a page.
    static let open = CommandOption(name: "open", help: "also open the page in the default browser")
}

extension ParsedArguments {
    /// The address given by `--http`; any free port of this host without the option.
    ///
    /// - Parameter remedy: what to do instead of using an address that other hosts can reach.
    /// - Throws: `UsageError` if other hosts can reach the address.
    func loopbackAddress(remedy: String) throws(UsageError) -> LiveMapAddress {
        let text = value("http") ?? "127.0.0.1:0"
        let address: LiveMapAddress
        do { address = try LiveMapAddress(text) } catch {
            throw UsageError(message: "--http: \(error)", command: syntax.name)
        }
        guard !address.isLoopback else { return address }
        throw UsageError(message: "--http: other hosts can reach \(address), \(remedy)", command: syntax.name)
    }
}
