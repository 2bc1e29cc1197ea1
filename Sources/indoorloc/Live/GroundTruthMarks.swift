import Foundation
import IndoorLocalization
import TextFormats
import VenuePackets

extension CommandOption {
    static let at = CommandOption(
        name: "at", argument: "MAP,X,Y", help: "ground truth: the device stays at this point (metres) of a map")
    static let room = CommandOption(
        name: "room", argument: "NAME", help: "ground truth: the device stays in this room, for 'rooms train'")
    static let marks = CommandOption(
        name: "marks", argument: "FILE",
        help: "ground truth: FILE has one MAP,X,Y on each line; press Enter at each point; u undoes")
    static let venueOfTruth = CommandOption(
        name: "venue", argument: "V", help: "venue packet that has the maps of --at or --marks")
}

/// The ground truth that the user supplies while recording.
struct TruthOptions: Sendable {
    /// The options of a command that records ground truth.
    static let options: [CommandOption] = [.at, .room, .marks, .venueOfTruth]

    /// The place at which the device stays; nil without one.
    let place: MarkedPlace?
    /// The room in which the device stays; nil without one.
    let room: String?
    /// The file of places to mark; nil without one.
    private let marks: String?
    private let venue: String?

    /// Returns nil if no option was given.
    ///
    /// - Throws: `UsageError` for an invalid value, and for options that can't be combined.
    init?(_ arguments: ParsedArguments) throws {
        let given = ["at", "room", "marks"].filter(arguments.has)
        func refuse(_ message: String) -> UsageError { UsageError(message: message, command: arguments.syntax.name) }
        guard let option = given.first else {
            if arguments.has("venue") { throw refuse("--venue requires --at or --marks") }
            return nil
        }
        if arguments.has("at"), arguments.has("marks") { throw refuse("--at and --marks can't be combined") }
        if option == "room", arguments.has("venue"), given.count == 1 {
            throw refuse("--venue requires --at or --marks")
        }
        guard let target = try arguments.recordTarget() else { throw refuse("--\(option) requires --record") }
        if case .capture = target.format {
            throw refuse("--\(option) requires a recording, .jsonl or .jsonl.gz; a capture can't store ground truth")
        }
        if arguments.has("append") {
            throw refuse(
                "--\(option) can't be combined with --append; record to another file, as 'survey' reads several")
        }
        place = try arguments.value("at").map { text in
            guard let place = MarkedPlace(text) else {
                throw refuse("--at must be MAP,X,Y in metres, such as 1,4.5,2, not '\(text)'")
            }
            return place
        }
        room = arguments.value("room")
        if room?.isEmpty == true { throw refuse("--room must be the name of a room, not ''") }
        marks = arguments.value("marks")
        venue = try arguments.input("venue")
    }

    /// The ground truth of a device that stays where it is; nil with marks only.
    var stay: LiveRecorder.Stay? { LiveRecorder.Stay(place: place, room: room) }

    /// Returns the places to mark; nil without `--marks`. Also checks the place of `--at`.
    ///
    /// - Throws: the error of the venue packet, `MarkList.Failure`, or `CommandError` if the place is not in the venue.
    func markList() throws -> MarkList? {
        let venue = try venue.map { try VenuePacketReader().read($0).venue }
        if let place, let problem = venue.flatMap(place.problem) {
            throw CommandError(description: "--at: \(problem)")
        }
        return try marks.map { try MarkList(file: $0, venue: venue) }
    }
}

/// A place on a map at which the user marks the ground truth.
struct MarkedPlace: Hashable, Sendable {
    let mapID: MapID
    let point: MapPoint

    init(mapID: MapID, point: MapPoint) {
        self.mapID = mapID
        self.point = point
    }

    /// Reads `MAP,X,Y`; returns nil for other text.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard parts.count == 3, let map = Int(parts[0]), let x = Double(parts[1]), let y = Double(parts[2]),
            x.isFinite, y.isFinite
        else { return nil }
        self.init(mapID: MapID(rawValue: map), point: MapPoint(x: x, y: y))
    }

    /// The place in words.
    var description: String {
        "map \(mapID), \(JSONText.number(point.x, decimals: 2)), \(JSONText.number(point.y, decimals: 2))"
    }

    /// Returns the reason why the place is not in a venue; nil if it is.
    func problem(in venue: Venue) -> String? {
        guard let map = venue.map(mapID) else {
            let maps = venue.maps.map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
            return "'\(venue.name)' has no map \(mapID); its maps are \(maps)"
        }
        guard !(0...map.width ~= point.x && 0...map.height ~= point.y) else { return nil }
        let size = [map.width, map.height].map { JSONText.number($0, decimals: 2) }
        return "the point is outside of map \(mapID), which is \(size[0]) m wide and \(size[1]) m high"
    }
}

/// The list of places that the user visits in order, and the position in the list.
struct MarkList: Sendable {
    /// The error of a file of places.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The places in the order of the walk.
    let places: [MarkedPlace]
    /// The number of marked places.
    private(set) var marked = 0

    init(_ places: [MarkedPlace]) { self.places = places }

    /// Reads a file with one `MAP,X,Y` on each line. Empty lines and lines that begin with `#` have no place.
    ///
    /// - Parameter venue: the venue of the places; nil if it is unknown.
    /// - Throws: `Failure` with the file, the line and the reason.
    init(file path: String, venue: Venue?) throws(Failure) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(description: InputFailure(path).description)
        }
        var places: [MarkedPlace] = []
        let content = String(decoding: data.dropFirst(ByteOrderMark.length(in: data)), as: UTF8.self)
        // Lines of an editor on Windows end with CR LF, which is one character.
        let lines = content.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            guard let place = MarkedPlace(text) else {
                throw Failure(
                    description: "\(path), line \(index + 1): expected MAP,X,Y, such as 1,4.5,2, not '\(text)'")
            }
            if let problem = venue.flatMap(place.problem) {
                throw Failure(description: "\(path), line \(index + 1): \(problem)")
            }
            places.append(place)
        }
        guard !places.isEmpty else {
            throw Failure(description: "\(path): no place; write one MAP,X,Y on each line, in the order of the walk")
        }
        self.places = places
    }

    /// The next place to mark; nil after the last one.
    var next: MarkedPlace? { places.indices.contains(marked) ? places[marked] : nil }

    /// The next step of the user in words.
    var prompt: String {
        guard let next else { return "all \(places.count) marks are set; press Ctrl-C to end, or u to undo" }
        let undo = marked > 0 ? ", or u to undo" : ""
        // Up to two decimals, as people write them.
        let point = [next.point.x, next.point.y].map { value in
            let text = JSONText.number(value, decimals: 2)
            return text.replacing(/\.?0+$/, with: "")
        }
        return "point \(marked + 1) of \(places.count): (\(point[0]), \(point[1])) m on map \(next.mapID); "
            + "press Enter when you are there\(undo)"
    }

    /// Advances to the next place.
    mutating func advance() { marked = min(marked + 1, places.count) }

    /// Goes back to the previous place.
    mutating func goBack() { marked = max(0, marked - 1) }
}

/// A key of the terminal that has a function while recording.
enum MarkKey: Hashable, Sendable {
    /// Enter or space: the user is at the next place.
    case mark
    /// `u`: the last mark was wrong.
    case undo

    /// Returns nil for a key without a function.
    init?(byte: UInt8) {
        switch byte {
        case 0x0A, 0x0D, 0x20: self = .mark
        case UInt8(ascii: "u"), UInt8(ascii: "U"): self = .undo
        default: return nil
        }
    }
}

/// A terminal that delivers each key immediately and without echo until it is closed.
///
/// Ctrl-C and Ctrl-Z have their usual effect; Ctrl-\ has none. A class, as its end restores the mode.
final class TerminalKeys {
    private let earlier: EarlierMode
    private let source: any DispatchSourceRead

    /// Begins to read keys; returns nil if the descriptor is not a terminal.
    ///
    /// - Parameter press: receives each key with the time at which it was pressed.
    init?(of terminal: Int32, _ press: @escaping @Sendable (MarkKey, ContinuousClock.Instant) -> Void) {
        var mode = termios()
        guard tcgetattr(terminal, &mode) == 0 else { return nil }
        earlier = EarlierMode(terminal, mode)
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Ctrl-\ would end the process without restoring the mode.
        mode.c_cc.1 = cc_t(0)
        tcsetattr(terminal, TCSANOW, &mode)
        let source = DispatchSource.makeReadSource(fileDescriptor: terminal)
        self.source = source
        source.setEventHandler { [source] in
            let time = ContinuousClock.now
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = bytes.withUnsafeMutableBytes { read(terminal, $0.baseAddress, $0.count) }
            // At the end of the terminal's input, the system would call the handler forever.
            guard count > 0 else {
                source.cancel()
                return
            }
            for byte in bytes[..<count] { if let key = MarkKey(byte: byte) { press(key, time) } }
        }
        source.activate()
    }

    /// Throws `CommandError` if the descriptor is not a terminal.
    static func check(_ terminal: Int32) throws(CommandError) {
        guard isatty(terminal) == 1 else {
            throw CommandError(
                description: "--marks requires a terminal on standard input, as the marks are set with its keys")
        }
    }

    /// Restores the terminal's mode, from any thread. A second call has no effect.
    var restore: @Sendable () -> Void {
        { [earlier] in earlier.restore() }
    }

    /// Ends reading, and restores the terminal's mode.
    func close() {
        source.cancel()
        restore()
    }

    deinit { close() }
}

/// The mode of a terminal before a change. A class, as the handlers of signals share it.
private final class EarlierMode: Sendable {
    private let terminal: Int32
    /// Nil once it is restored.
    private let mode: Guarded<termios?>

    init(_ terminal: Int32, _ mode: termios) {
        self.terminal = terminal
        self.mode = Guarded(mode)
    }

    func restore() {
        mode.withLock { mode in
            guard var earlier = mode.take() else { return }
            tcsetattr(terminal, TCSANOW, &earlier)
        }
    }
}

/// The marks of the ground truth that a user sets on the live map of a recorded session.
///
/// A class, as the server of the map and the recording share it.
final class LiveMarks: Sendable {
    private typealias Receiver = @Sendable (MarkedPlace, ContinuousClock.Instant) -> Void

    private let venue: Venue
    private let receiver = Guarded<Receiver?>(nil)

    /// - Parameter venue: the venue of the places.
    init(venue: Venue) { self.venue = venue }

    /// Begins to pass on marks when the recording has begun.
    func begin(_ receive: @escaping @Sendable (MarkedPlace, ContinuousClock.Instant) -> Void) {
        receiver.withLock { $0 = receive }
    }

    /// Passes on a mark; returns a sentence with the reason if that isn't possible.
    func mark(_ place: MarkedPlace) -> String? {
        let now = ContinuousClock.now
        if let problem = place.problem(in: venue) { return "The mark isn't stored: \(problem)." }
        guard let receive = receiver.withLock({ $0 }) else {
            return "The mark isn't stored, because no reading was recorded yet. Mark the place again later."
        }
        receive(place, now)
        return nil
    }
}
