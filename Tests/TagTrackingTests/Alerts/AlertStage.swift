import IndoorVocabulary
import LocalizationSession
import TagTracking
import VenueModel
import XCTest

/// A venue with a ward beside a hall, and a machine of alerts that a test drives second by second.
struct AlertStage {
    static let start = Instant(nanoseconds: 1_795_338_000_000_000_000)

    static let venue: Venue = {
        func area(_ left: Double, _ right: Double) -> Area {
            .polygon([
                MapPoint(x: left, y: 0), MapPoint(x: right, y: 0), MapPoint(x: right, y: 10), MapPoint(x: left, y: 10),
            ])
        }
        var venue = Venue(
            id: VenueID(rawValue: 7), name: "Clinic",
            maps: [
                VenueMap(id: MapID(rawValue: 1), name: "Ground", level: 0, width: 30, height: 10),
                VenueMap(id: MapID(rawValue: 2), name: "Upper", level: 1, width: 30, height: 10),
            ],
            rooms: [
                Room(id: 1, name: "Ward", mapID: MapID(rawValue: 1), area: area(0, 10)),
                Room(id: 2, name: "Hall", mapID: MapID(rawValue: 1), area: area(10, 30)),
            ])
        venue.fences = [Fence(id: 1, name: "Yard", mapID: MapID(rawValue: 1), area: area(20, 30))]
        return venue
    }()

    static let cart = TagKey.address(DeviceAddress(rawValue: 0xC300_0012_AB01))
    static let lift = TagKey.name("lift")
    static let register = TagRegister([.init(key: cart, name: "Cart"), .init(key: lift, name: "Trolley 1")])

    var machine: AlertMachine
    private var sequences: [TagKey: UInt64] = [:]
    private let epoch: UInt64
    /// What happened to alerts so far, such as "12 raised A Cart".
    var log: [String] = []
    var events: [AlertEvent] = []

    init(_ rules: String, register: TagRegister = AlertStage.register, epoch: UInt64 = 1) throws {
        self.epoch = epoch
        machine = AlertMachine(rules: try Self.rules(rules, register: register), register: register, epoch: epoch)
    }

    static func rules(_ text: String, register: TagRegister = AlertStage.register) throws -> AlertRules {
        try AlertRules(json: Array(text.utf8), venue: venue, register: register)
    }

    static func instant(_ seconds: Double) -> Instant { start.advanced(by: .seconds(seconds)) }

    static func position(_ x: Double, map: Int = 1, at seconds: Double) -> FleetOutput.Content {
        .position(
            Position(
                instant: instant(seconds), venueID: VenueID(rawValue: 7), mapID: MapID(rawValue: map),
                point: MapPoint(x: x, y: 5), radius: 1))
    }

    mutating func handle(_ event: AlertMachine.Event, at seconds: Double) {
        let new = machine.handle(event, at: Self.instant(seconds))
        events += new
        log += new.map { event in
            "\(Int(seconds)) \(event.state.rawValue) \(event.rule) \(event.name ?? event.tag.description)"
                + (event.reason.map { " \($0.rawValue)" } ?? "")
        }
    }

    mutating func output(_ content: FleetOutput.Content, _ tag: TagKey = cart, at seconds: Double) -> FleetOutput {
        sequences[tag, default: 0] += 1
        return FleetOutput(
            tag: tag, epoch: epoch, sequence: sequences[tag] ?? 0, instant: Self.instant(seconds), content: content)
    }

    /// Puts a tag at a place for each second of a range.
    mutating func stay(_ x: Double, map: Int = 1, _ tag: TagKey = cart, during seconds: Range<Int>) {
        for second in seconds {
            handle(
                .outputs([output(Self.position(x, map: map, at: Double(second)), tag, at: Double(second))]),
                at: Double(second))
            handle(.tick, at: Double(second))
        }
    }

    /// Lets time pass.
    mutating func wait(during seconds: Range<Int>) { for second in seconds { handle(.tick, at: Double(second)) } }
}
