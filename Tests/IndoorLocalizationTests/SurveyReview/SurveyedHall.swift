import IndoorLocalization

/// A survey of `CoverageHall` with known transmitters, which can differ from the venue's beacons.
struct SurveyedHall {
    /// The places of the venue's beacons.
    var beacons = CoverageHall.lattice(columns: 3, rows: 2)
    /// The transmitters: their beacon's index, their place and their power in dBm.
    var transmitters: [(beacon: Int, point: MapPoint, power: Double)]
    /// The surveyed places.
    var places: [MapPoint]
    /// The standard deviation of a reading in dB.
    var noise = 2.0

    init(placeDistance: Double = 3) {
        places = stride(from: 1.5, to: 20, by: placeDistance).flatMap { y in
            stride(from: 1.5, to: 30, by: placeDistance).map { MapPoint(x: $0, y: y) }
        }
        transmitters = CoverageHall.lattice(columns: 3, rows: 2).enumerated().map { ($0, $1, -60) }
    }

    var venue: Venue {
        let outline = [(0.0, 0.0), (30, 0), (30, 20), (0, 20)].map { MapPoint(x: $0.0, y: $0.1) }
        return CoverageHall.venue(beacons: beacons, walkable: [outline])
    }

    /// Returns one recording for each place: a stay of 3 s with three readings of each transmitter.
    func recordings(seed: UInt64 = 1) -> [SurveyRecording] {
        var generator = SeededGenerator(seed: seed)
        return places.map { place in
            var sightings: [Sighting] = []
            for second in 1...3 {
                for transmitter in transmitters {
                    let rssi = CoverageHall.rssi(of: transmitter.point, at: place, power: transmitter.power)
                    sightings.append(
                        Sighting(
                            instant: Instant(seconds: Double(second)),
                            beacon: CoverageHall.identity(transmitter.beacon), rssi: rssi + noise * generator.normal()))
                }
            }
            let waypoint = SurveyRecording.Waypoint(
                instant: .zero, mapID: CoverageHall.map, point: place, isHold: true)
            return SurveyRecording(waypoints: [waypoint], sightings: sightings)
        }
    }

    func radioMap(seed: UInt64 = 1) -> RadioMap? {
        var learner = RadioMapLearner(venue: venue)
        for recording in recordings(seed: seed) { learner.add(recording) }
        return learner.finish()
    }
}
