// Treats bytes as the stored state of a fleet, as readings and outputs of its logs, as a register of tags, or as a session
// memory: decoding must not trap, a decoded value must read back equal, and a restored machine must work and restore again.
//
// A random state rarely passes the checksum, so the first bytes are readings of a machine whose snapshot the other bytes
// change: a triple has an offset of 16 bits and a value.
import IndoorPositioning
import IndoorVocabulary
import VenueModel

@testable import TagTracking
@testable import VenuePackets

func fuzzSnapshot(_ input: [UInt8]) throws(Finding) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch (first &- UInt8(ascii: "0")) & 15 {
    case 0: try checkMachine(bytes)
    case 1: try checkMonitor(bytes)
    case 2: try checkReading(bytes)
    case 3: try checkOutput(bytes)
    case 4: try checkPartition(bytes)
    case 5: try checkRegister { () throws(TagFileError) in try TagRegister(csv: bytes, classes: ["standard"]) }
    case 6: try checkRegister { () throws(TagFileError) in try TagRegister(json: bytes, classes: ["standard"]) }
    case 7: try checkContent(bytes)
    default: try checkMemory(bytes)
    }
}

private let venue = Venue(
    id: 7, name: "Hall",
    maps: [
        VenueMap(id: 1, name: "Hall", level: 0, width: 12, height: 8),
        VenueMap(id: 2, name: "Gallery", level: 1, width: 12, height: 8),
    ],
    receivers: (0..<3).map { index in
        VenueReceiver(
            id: "gateway-\(index)",
            identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 0, minor: UInt16(index)),
            mapID: index == 2 ? 2 : 1, point: MapPoint(x: 2 + 4 * Double(index), y: 4))
    },
    rooms: [
        Room(id: 1, name: "West", mapID: 1, area: .circle(center: MapPoint(x: 3, y: 4), radius: 3)),
        Room(id: 2, name: "East", mapID: 1, area: .circle(center: MapPoint(x: 9, y: 4), radius: 3)),
    ],
    fences: [Fence(id: 1, name: "Door", mapID: 1, area: .circle(center: MapPoint(x: 6, y: 4), radius: 3))])

private let model: FleetModel = {
    var settings = FleetSettings()
    settings.classes = [
        "standard": FleetSettings.TagClass(
            particleCount: 100, cellScale: 4, positionInterval: .seconds(1), awayTimeout: .seconds(30))
    ]
    settings.maximumTagCount = 8
    settings.maximumPendingReadings = 64
    return FleetModel(venue: venue, settings: settings)
}()

private let begin: Int64 = 1_700_000_000_000_000_000

/// Adds readings to a machine, and returns the bytes behind them.
private func observe(_ bytes: [UInt8], _ machine: inout FleetMachine) -> ArraySlice<UInt8> {
    var time = begin
    var rest = bytes[...]
    let number = Int(rest.popFirst() ?? 0) & 15
    for _ in 0..<number where rest.count >= 4 {
        let part = rest.prefix(4).map(Int.init)
        rest = rest.dropFirst(4)
        time += Int64(part[0]) * 20_000_000
        machine.observe(
            TagReading(
                tag: .name("tag-\(part[1] & 7)"), receiver: "gateway-\(part[2] % 3)",
                instant: Instant(nanoseconds: time), rssi: -30 - Double(part[3] % 70),
                window: .milliseconds(part[2] & 0xF0), measuredPower: part[1] & 8 == 0 ? nil : -60))
        if part[0] & 1 == 1 { _ = machine.advance(to: Instant(nanoseconds: time)) }
    }
    return rest
}

/// Returns a snapshot's content with changes.
private func changed(_ snapshot: [UInt8], _ changes: ArraySlice<UInt8>) -> [UInt8] {
    var content = Array(snapshot.dropFirst(5).dropLast(8))
    var rest = changes
    while rest.count >= 3, !content.isEmpty {
        let part = rest.prefix(3).map(Int.init)
        rest = rest.dropFirst(3)
        content[(part[0] << 8 | part[1]) % content.count] = UInt8(part[2])
    }
    return content
}

private func checkMachine(_ bytes: [UInt8]) throws(Finding) {
    var machine = FleetMachine(model: model, epoch: 1, seed: 1)
    let changes = observe(bytes, &machine)
    let snapshot = machine.snapshot()
    guard (try? FleetMachine(model: model, epoch: 2, restoring: snapshot)) != nil else {
        throw Finding("a snapshot does not restore")
    }
    try restore(SnapshotFrame.frame(changed(snapshot, changes), kind: "ILFM", version: 1))
}

/// Restores a machine, and lets it work.
private func restore(_ snapshot: [UInt8]) throws(Finding) {
    guard var machine = try? FleetMachine(model: model, epoch: 2, seed: 1, restoring: snapshot) else { return }
    guard machine.statistics.knownTags <= 8, machine.statistics.presentTags <= machine.statistics.knownTags else {
        throw Finding("\(machine.statistics) does not obey the limits")
    }
    let now = machine.now.map { min(max($0, begin), 2 * begin) } ?? begin
    machine.observe(
        TagReading(tag: .name("tag-1"), receiver: "gateway-0", instant: Instant(nanoseconds: now), rssi: -60))
    for seconds: Int64 in [1, 40, 2000] {
        for output in machine.advance(to: Instant(nanoseconds: now + seconds * 1_000_000_000)) {
            if isWritten(output), (try? FleetOutput(json: output.jsonBytes))?.sequence != output.sequence {
                throw Finding("\(output) does not read back")
            }
            guard case .position(let position) = output.content else { continue }
            guard position.point.x.isFinite, position.point.y.isFinite, position.radius.isFinite else {
                throw Finding("\(position) does not have finite numbers")
            }
        }
    }
    var monitor = ReceiverMonitor(venue: venue)
    monitor.observe(machine.takeReceiverEvidence())
    guard (try? FleetMachine(model: model, epoch: 3, restoring: machine.snapshot())) != nil else {
        throw Finding("the snapshot of a restored machine does not restore")
    }
}

/// Whether JSON has the time and the numbers of an output: a year from 1970 to 2199, and fixed decimals.
private func isWritten(_ output: FleetOutput) -> Bool {
    guard (0...7_200_000_000_000_000_000).contains(output.instant.nanoseconds) else { return false }
    guard case .position(let position) = output.content else { return true }
    let numbers: [Double] = [
        position.point.x, position.point.y, position.radius, position.covariance?.xx ?? 0, position.covariance?.yy ?? 0,
    ]
    return numbers.allSatisfy { abs($0) <= 1e12 }
}

private func checkMonitor(_ bytes: [UInt8]) throws(Finding) {
    var machine = FleetMachine(model: model, epoch: 1, seed: 1)
    let changes = observe(bytes, &machine)
    var monitor = ReceiverMonitor(venue: venue)
    for tag: UInt64 in 0..<3 {
        for receiver in 0..<3 {
            monitor.states[receiver].estimate.addTag(
                tag, difference: Double(receiver), readings: 20, at: Instant(nanoseconds: begin))
            monitor.states[receiver].estimate.addNode(tag, difference: 1, at: Instant(nanoseconds: begin))
        }
    }
    monitor.observe(machine.takeReceiverEvidence())
    try restoreMonitor(SnapshotFrame.frame(changed(monitor.snapshot(), changes), kind: "ILRM", version: 2))
}

private func restoreMonitor(_ snapshot: [UInt8]) throws(Finding) {
    guard var monitor = try? ReceiverMonitor(venue: venue, restoring: snapshot) else { return }
    for step: Int64 in 0..<3 {
        let instant = Instant(nanoseconds: begin + step * 30_000_000_000)
        for receiver in 0..<3 {
            monitor.states[receiver].estimate.addTag(9, difference: 2, readings: 60, at: instant)
            monitor.observeMessage(of: "gateway-\(receiver)", at: instant)
        }
        _ = monitor.advance(to: instant)
        _ = monitor.merged(with: monitor)
        guard monitor.offsets.allSatisfy({ abs($0) <= 2000 }) else {
            throw Finding("\(monitor.offsets) does not bound offsets")
        }
    }
    guard (try? ReceiverMonitor(venue: venue, restoring: monitor.snapshot())) != nil else {
        throw Finding("the snapshot of a restored monitor does not restore")
    }
}

/// Checks a content without a machine behind it.
private func checkContent(_ bytes: [UInt8]) throws(Finding) {
    try restore(SnapshotFrame.frame(bytes, kind: "ILFM", version: 1))
    try restoreMonitor(SnapshotFrame.frame(bytes, kind: "ILRM", version: 2))
    try restore(bytes)
}

private func checkReading(_ bytes: [UInt8]) throws(Finding) {
    guard let reading = try? TagReading(decoding: bytes) else { return }
    guard Sighting.isMeasurement(rssi: reading.rssi), (try? TagReading(decoding: reading.encoded())) == reading else {
        throw Finding("\(reading) does not read back equal")
    }
}

private func checkOutput(_ bytes: [UInt8]) throws(Finding) {
    // The JSON of an output has fixed decimals, so a number that isn't written by the package changes once.
    guard let output = try? FleetOutput(json: bytes), let once = try? FleetOutput(json: output.jsonBytes) else {
        return
    }
    guard let twice = try? FleetOutput(json: once.jsonBytes), twice.tag == once.tag, twice.sequence == once.sequence,
        twice.instant == once.instant, twice.name == once.name
    else { throw Finding("\(once) does not read back") }
    var latest = LatestOutputs(capacity: 10)
    latest.add(output)
    latest.add(twice)
}

private func checkPartition(_ bytes: [UInt8]) throws(Finding) {
    guard let state = try? PartitionState(bytes, key: "fuzz") else { return }
    guard state.bytes == bytes else { throw Finding("\(state) does not read back equal") }
    try restore(state.snapshot)
}

private func checkRegister(_ read: () throws(TagFileError) -> TagRegister) throws(Finding) {
    switch Result(catching: read) {
    case .success(let register):
        guard register.entries.allSatisfy({ $0.key == $0.value.key && $0.key.canonical == $0.key }) else {
            throw Finding("\(register) does not have canonical keys")
        }
        _ = TagIntake(register: register)
    case .failure(let error):
        guard error.message.isEmpty == false, error.description.isEmpty == false else {
            throw Finding("an error does not describe its problem")
        }
    }
}

private let engine = PositioningEngine(venue: venue.forTags)

/// Positions a device that begins at the place of a session memory.
private func checkMemory(_ bytes: [UInt8]) throws(Finding) {
    guard let memory = try? SessionMemoryStore.decode(bytes).0, let stay = memory.stay, !stay.places.isEmpty else {
        return
    }
    var engine = engine
    let now = Instant(seconds: 1000)
    engine.begin(
        with: RestoredPlace(
            places: stay.places, instant: now.advanced(by: .zero - memory.age), timeout: .seconds(3600)))
    if let calibration = memory.calibration { engine.begin(with: calibration) }
    for step in 0..<3 {
        let instant = now.advanced(by: .milliseconds(500 * step))
        engine.observe(.sighting(Sighting(instant: instant, beacon: venue.receivers[step % 2].identity, rssi: -60)))
        engine.advance(to: instant)
    }
    let probabilities = engine.mapProbabilities
    guard probabilities.values.allSatisfy({ (0...1.001).contains($0) }),
        probabilities.isEmpty || abs(probabilities.values.reduce(0, +) - 1) < 0.01
    else { throw Finding("\(probabilities) does not sum to 1") }
    for map in venue.maps {
        guard let estimate = engine.estimate(on: map.id) else { continue }
        guard estimate.point.x.isFinite, estimate.point.y.isFinite, estimate.radius.isFinite else {
            throw Finding("\(estimate) does not have finite numbers")
        }
    }
}
