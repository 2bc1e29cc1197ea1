import Foundation
import IndoorLocalization
import LiveMap
import VenuePackets

/// The command `venue edit`: serves a page on which a person changes a venue packet with a pointer.
struct VenueEditCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue edit", operands: "PACKET", operandCount: 1...1,
        summary: "set beacons, rooms and walls of a venue packet in a web browser",
        details: """
            PACKET is the folder of a venue packet. The page shows the plan of each map, on which beacons, rooms and walls
            are set, moved and deleted with the mouse, by touch or on the keyboard. Saving checks the packet as 'venue
            check' does, and replaces its venue.json only if there is no error. Fields that the page doesn't know stay as
            they are. If another program has changed the file in the meantime, the page asks before it replaces the file.

            Prints the URL of the page, and serves it until the command is interrupted. The URL has a token: only who
            has the URL can change the packet. Changes that were not saved are in the page only, which warns before it is
            closed.

            example: cp -r Fixtures/office office
                     indoorloc venue edit --open office
            """,
        options: [.loopbackAddress, .open])

    private let packet: String
    private let address: LiveMapAddress
    private let opens: Bool

    init(_ arguments: ParsedArguments) throws {
        packet = arguments.operands[0]
        guard packet != ParsedArguments.standardInput else {
            throw UsageError(message: "PACKET is a folder, and can't be standard input", command: Self.syntax.name)
        }
        address = try arguments.loopbackAddress(remedy: "and could change the packet; use 127.0.0.1")
        opens = arguments.has("open")
    }

    func run() async throws {
        let file = try EditedVenueFile(packet: packet)
        // Every user of this host reaches the port, so that a token is required.
        let token = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        let listener = try LiveMapListener(address, token: token)
        let title = URL(filePath: file.folder).lastPathComponent
        let server = try LiveMapServer(routes: VenueEditRoutes(file: file, title: title), listener: listener)
        defer { server.stop() }
        let url = "\(server.url)?token=\(token)"
        try StandardOutput.write(url + "\n")
        let page = opens ? try RedirectingPage(to: url) : nil
        if let page { LocalPage.open(page.path) }
        await LocalPage.waitForInterruption()
        page?.remove()
    }
}

/// A file that leads a browser to an address with a secret, which the arguments of a process would show to all users.
private struct RedirectingPage {
    let path: String

    /// Writes the file, which only its owner can read.
    ///
    /// - Throws: `CommandError` if the file can't be written.
    init(to url: String) throws(CommandError) {
        let folder = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? NSTemporaryDirectory()
        path = folder + "/indoorloc-\(UUID().uuidString).html"
        let html = "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=\(url)\"><title>indoorloc</title>"
        do throws(FileSystemError) {
            try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600).write(Array(html.utf8))
        } catch {
            throw CommandError(description: "--open: \(error); open the printed address in a browser")
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
