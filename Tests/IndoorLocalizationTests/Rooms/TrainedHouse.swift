import CMath
import IndoorLocalization

/// A house of six rooms with a dozen beacons, heard by simulated receivers.
struct TrainedHouse {
    static let uuid = BeaconUUID(high: 0xB5B1_82C7_EAB1_4988, low: 0xAA99_B5C1_5170_08D9)
    static let rooms = ["attic", "bath", "cellar", "den", "entry", "garage"]
    static let beaconCount = 12
    private static let seed: UInt64 = 6
    /// From one second to the next: e^(-1/10), and what keeps the deviation at 5 dB.
    private static let (persistence, renewal) = (0.905, 2.13)

    private var generator: SeededGenerator
    /// What shadows the receiver, by beacon in dB: it holds for some 10 s, as bodies and hands do.
    private var shadows: [Double]

    init(seed: UInt64 = Self.seed) {
        print("seed of the house: \(seed)")
        generator = SeededGenerator(seed: seed)
        shadows = [Double](repeating: 0, count: Self.beaconCount)
    }

    static func beacon(_ minor: Int) -> BeaconIdentity { BeaconIdentity(uuid: uuid, major: 1, minor: UInt16(minor)) }

    /// Rooms of 5 m by 5 m, three in a row; two beacons in each, in opposite corners.
    private static func center(of room: Int) -> (x: Double, y: Double) {
        (2.5 + 5 * Double(room % 3), 2.5 + 5 * Double(room / 3))
    }

    /// What a receiver hears in a room: it stands anywhere in it, and walls take 4 dB each.
    ///
    /// - Parameter offset: by how many dB the receiver reads above another.
    mutating func scan(in name: String, at seconds: Double, offset: Double = 0) -> RoomScan {
        let room = Self.rooms.firstIndex(of: name) ?? 0
        let center = Self.center(of: room)
        let (x, y) = (center.x + 4 * generator.uniform() - 2, center.y + 4 * generator.uniform() - 2)
        var rssi: [BeaconIdentity: Double] = [:]
        for index in 0..<Self.beaconCount {
            shadows[index] = Self.persistence * shadows[index] + Self.renewal * generator.normal()
            let home = Self.center(of: index / 2)
            let corner = index % 2 == 0 ? -2.0 : 2.0
            let distance = max(0.5, cmath_hypot(x - home.x - corner, y - home.y - corner))
            let walls = abs(room % 3 - index / 2 % 3) + abs(room / 3 - index / 6)
            let value =
                -59 - 22 * cmath_log10(distance) - 4 * Double(walls) + shadows[index] + offset
                + 4 * generator.normal()
            // Every tenth advertisement is missed, and the faint ones are not heard.
            if generator.uniform() > 0.1, value > -92 { rssi[Self.beacon(index)] = value.rounded() }
        }
        return RoomScan(instant: Instant(seconds: seconds), rssi: rssi)
    }

    mutating func scans(in room: String, count: Int, from seconds: Double = 0, offset: Double = 0) -> [RoomScan] {
        (0..<count).map { scan(in: room, at: seconds + Double($0), offset: offset) }
    }

    /// What a minute of training in each room gives.
    mutating func training() -> RoomTrainingSet {
        var training = RoomTrainingSet()
        for room in Self.rooms {
            var recorder = TrainingRecorder()
            recorder.start(at: .zero, unixTime: 1)
            for scan in scans(in: room, count: 60) { recorder.observe(scan) }
            training.rooms[room] = recorder.finish()
        }
        return training
    }

    /// Returns the share of correctly classified scans, with five minutes in each room, one after the other.
    mutating func accuracy(of classifier: some Classifier, offset: Double = 0) -> Double {
        var classifier = classifier
        var right = 0
        for (index, room) in Self.rooms.enumerated() {
            for scan in scans(in: room, count: 300, from: Double(index) * 300, offset: offset) {
                if classifier.classify(scan)?.room == room { right += 1 }
            }
        }
        return Double(right) / Double(300 * Self.rooms.count)
    }
}
