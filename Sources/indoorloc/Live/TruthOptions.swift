import Foundation
import IndoorLocalization
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
