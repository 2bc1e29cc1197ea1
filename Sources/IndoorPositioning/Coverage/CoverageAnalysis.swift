import IndoorVocabulary
import VenueModel

/// The accuracy that a venue's beacons allow, and proposals for more beacons.
///
/// The expected error of a cell is the Cramér–Rao bound of one position from the RSSI of the beacons that the receiver
/// detects there, with the session's own signal model: path loss, shadowing, floors, and the unknown offset of the
/// receiver. Walls attenuate the signal and so reduce the probability of a detection. Where the readings don't locate the
/// receiver, the walkable area limits the error. A session that tracks a walk combines successive readings and can be more
/// accurate; unmapped walls and reflections make it less accurate.
///
/// Sources: N. Patwari et al., *Relative Location Estimation in Wireless Sensor Networks*, IEEE Transactions on Signal
/// Processing 51(8), 2003; Y. Qi, H. Kobayashi, *On Geolocation Accuracy with Prior Information in Non-line-of-sight
/// Environment*, IEEE Vehicular Technology Conference, 2002.
public struct CoverageAnalysis: Sendable {
    private let settings: CoverageSettings
    private let transmitters: [SignalField.Transmitter]
    private let signal: CoverageSignal
    private let floorDistance: FloorDistance
    private let floors: [CoverageFloor]
    /// The sum of the readings' information in each walkable cell, by map.
    private let information: [[PositionInformation]]
    /// The expected number of detected beacons in each walkable cell, by map.
    private let detected: [[Double]]

    /// Analyses the beacons of a venue, with its radio map if it has one. The time is proportional to the number of cells,
    /// beacons and walls.
    public init(venue: Venue, settings: CoverageSettings = CoverageSettings()) {
        self.settings = settings
        let field = SignalField(venue: venue, model: settings.signal)
        let signal = CoverageSignal(venue: venue, field: field, settings: settings)
        self.signal = signal
        transmitters = field.transmitters
        let floorDistance = FloorDistance(venue.maps)
        self.floorDistance = floorDistance
        floors = venue.maps.map { CoverageFloor($0, of: venue, cellSize: settings.cellSize) }
        var information: [[PositionInformation]] = []
        var detected: [[Double]] = []
        for floor in floors {
            var sums = Array(repeating: PositionInformation(), count: floor.cells.count)
            var counts = Array(repeating: 0.0, count: floor.cells.count)
            for beacon in transmitters {
                let between = floorDistance.floors(from: beacon.mapID, to: floor.map.id)
                let detections = floor.detections(of: beacon, floors: between, signal: signal)
                for (position, detection) in detections.enumerated() where detection > 0 {
                    let reading = floor.information(at: position, of: beacon, signal: signal)
                    sums[position].add(reading, share: Double(detection))
                    counts[position] += Double(detection)
                }
            }
            information.append(sums)
            detected.append(counts)
        }
        (self.information, self.detected) = (information, detected)
    }

    private var receiverVariance: Double { settings.receiverDeviation * settings.receiverDeviation }

    /// Returns the expected errors on a map; nil for an unknown map.
    public func expectedErrors(on mapID: MapID) -> CoverageGrid? {
        guard let index = floors.firstIndex(where: { $0.map.id == mapID }) else { return nil }
        let floor = floors[index]
        var grid = CoverageGrid(
            mapID: mapID, cellSize: floor.grid.cellSize, columns: floor.grid.columns, rows: floor.grid.rows,
            errors: Array(repeating: nil, count: floor.grid.count),
            detectedBeacons: Array(repeating: 0, count: floor.grid.count))
        for (position, cell) in floor.cells.enumerated() {
            grid.errors[cell] = floor.error(information[index][position], receiverVariance: receiverVariance)
            grid.detectedBeacons[cell] = detected[index][position]
        }
        return grid
    }

    /// Returns places for more beacons, each of which reduces the expected error most, given the places before it.
    ///
    /// A greedy sequence isn't always the best set. For a gain with diminishing returns, it reaches at least 63 % of the
    /// best set's gain: G. L. Nemhauser, L. A. Wolsey, M. L. Fisher, *An Analysis of Approximations for Maximizing Submodular
    /// Set Functions*, Mathematical Programming 14, 1978. A new beacon has the mean power and exponent of the venue's
    /// beacons, and is assumed to be surveyed if they are.
    /// - Parameters:
    ///   - count: the maximum number of places; there are fewer if no further beacon reduces the error.
    ///   - mapID: the map to improve; nil for all maps.
    public func proposedBeacons(count: Int, on mapID: MapID? = nil) -> [ProposedBeacon] {
        let chosen = floors.indices.filter { mapID == nil || floors[$0].map.id == mapID }
        var searches = chosen.map { search(on: $0) }
        var proposals: [ProposedBeacon] = []
        while proposals.count < count {
            let gains = searches.indices.compactMap { index in
                searches[index].best.map { (search: index, candidate: $0.candidate, gain: $0.gain) }
            }
            guard let best = gains.max(by: { $0.gain < $1.gain }), best.gain > 1e-6 else { break }
            let point = searches[best.search].place(best.candidate)
            let cells = searches.reduce(0) { $0 + $1.errors.count }
            let errors = searches.flatMap(\.errors)
            let within = settings.target.map { target in Double(errors.count { $0 <= target }) / Double(cells) }
            proposals.append(
                ProposedBeacon(
                    mapID: floors[chosen[best.search]].map.id, point: point,
                    meanError: errors.reduce(0, +) / Double(max(1, cells)), shareWithinTarget: within))
        }
        return proposals
    }

    private func search(on index: Int) -> BeaconPlaceSearch {
        let count = Double(max(1, transmitters.count))
        let isEmpty = transmitters.isEmpty
        let model = settings.signal
        let power = isEmpty ? model.defaultPower : transmitters.reduce(0) { $0 + $1.power } / count
        let exponent = isEmpty ? model.pathLossExponent : transmitters.reduce(0) { $0 + $1.exponent } / count
        return BeaconPlaceSearch(
            floor: floors[index], information: information[index],
            beacon: SignalField.Transmitter(
                mapID: floors[index].map.id, point: MapPoint(x: 0, y: 0), power: power, exponent: exponent),
            signal: signal, settings: settings)
    }
}
