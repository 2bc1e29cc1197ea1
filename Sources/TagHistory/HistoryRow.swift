import IndoorVocabulary
import LocalizationSession
import TagTracking
import VenueModel

/// An output of a fleet as a row of the tables.
package struct HistoryRow: Hashable, Sendable {
    /// The names of the columns of a batch, in the order of ``line``.
    static let columns = [
        "tag", "epoch", "sequence", "nanoseconds", "type", "name", "venue", "map", "x", "y", "radius", "area",
        "latitude", "longitude", "course", "speed",
    ]

    /// The row as a line of COPY's text format, with its line feed.
    let line: [UInt8]

    /// Creates the row of an output; nil if epoch or sequence exceeds the range of the type `bigint`.
    package init?(_ output: FleetOutput) {
        guard Int64(exactly: output.epoch) != nil, Int64(exactly: output.sequence) != nil else { return nil }
        var line = Line()
        line.add(output.tag.description)
        line.add(output.epoch)
        line.add(output.sequence)
        line.add(output.instant.nanoseconds)
        switch output.content {
        case .present: line.add("present", output.name)
        case .away: line.add("away", output.name)
        case .event(let event):
            line.add(event.kind.name, output.name)
            line.add(event.venueID.rawValue)
            line.add(event.kind.mapID?.rawValue)
            for _ in 0..<3 { line.addNull() }
            line.add(event.kind.area)
        case .position(let position):
            line.add("position", output.name)
            line.add(position)
        }
        self.line = line.ended(columnCount: Self.columns.count)
    }
}

extension LocalizationEvent.Kind {
    /// The name of the case.
    fileprivate var name: String {
        switch self {
        case .enterFence: "enterFence"
        case .exitFence: "exitFence"
        case .enterRoom: "enterRoom"
        case .exitRoom: "exitRoom"
        case .enterGeofence: "enterGeofence"
        case .exitGeofence: "exitGeofence"
        }
    }

    /// The map of the room or fence; nil for a geofence.
    fileprivate var mapID: MapID? {
        switch self {
        case .enterFence(let fence), .exitFence(let fence): fence.mapID
        case .enterRoom(let room), .exitRoom(let room): room.mapID
        case .enterGeofence, .exitGeofence: nil
        }
    }

    /// The name of the room or fence.
    fileprivate var area: String {
        switch self {
        case .enterFence(let fence), .exitFence(let fence): fence.name
        case .enterRoom(let room), .exitRoom(let room): room.name
        case .enterGeofence(let fence), .exitGeofence(let fence): fence.name
        }
    }
}

/// A line of COPY's text format.
///
/// Source: *PostgreSQL 15 Documentation*, COPY, "Text Format", PostgreSQL Global Development Group 2022.
private struct Line {
    private var bytes: [UInt8] = []
    private var count = 0

    private mutating func separate() {
        if count > 0 { bytes.append(UInt8(ascii: "\t")) }
        count += 1
    }

    mutating func addNull() {
        separate()
        bytes += Array("\\N".utf8)
    }

    mutating func add(_ text: String?) {
        guard let text else { return addNull() }
        separate()
        for byte in text.utf8 {
            switch byte {
            // PostgreSQL's type `text` can't contain a NUL character.
            case 0: bytes += Array("\u{FFFD}".utf8)
            case UInt8(ascii: "\\"): bytes += Array("\\\\".utf8)
            case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
            case UInt8(ascii: "\r"): bytes += Array("\\r".utf8)
            case UInt8(ascii: "\t"): bytes += Array("\\t".utf8)
            default: bytes.append(byte)
            }
        }
    }

    mutating func add(_ kind: String, _ name: String?) {
        add(kind)
        add(name)
    }

    mutating func add(_ number: (some BinaryInteger)?) {
        guard let number else { return addNull() }
        separate()
        bytes += Array("\(number)".utf8)
    }

    mutating func add(_ number: Double?) {
        guard let number else { return addNull() }
        separate()
        bytes += Array("\(number)".utf8)
    }

    mutating func add(_ position: Position) {
        add(position.venueID.rawValue)
        add(position.mapID.rawValue)
        add(position.x)
        add(position.y)
        add(position.radius)
        add(position.label)
        add(position.coordinate?.latitude)
        add(position.coordinate?.longitude)
        add(position.course)
        add(position.speed)
    }

    /// Returns the line, with nulls in place of missing columns.
    mutating func ended(columnCount: Int) -> [UInt8] {
        while count < columnCount { addNull() }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
