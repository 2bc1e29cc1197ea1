import IndoorVocabulary

/// Training data as the classifiers count with it.
struct RoomTable: Sendable {
    /// A room's samples: of each the beacons that were heard, as offsets into `beacons`, with their RSSI.
    struct Entry: Sendable {
        var name: String
        var samples: [[(beacon: Int, rssi: Double)]]
        /// How many of the samples tell how often beacons are heard: the first ones, which are those in hand, if there
        /// are any. What a pocket does not let through is no less there.
        var countedSamples: Int
    }

    /// The rooms with at least one sample that holds a beacon, by name.
    let rooms: [Entry]
    /// The beacons in order, so that equal training gives equal sums.
    let beacons: [BeaconIdentity]
    private let offsets: [BeaconIdentity: Int]

    init(_ training: RoomTrainingSet) {
        let beacons = training.beacons.sorted()
        let offsets = Dictionary(uniqueKeysWithValues: beacons.enumerated().map { ($1, $0) })
        self.beacons = beacons
        self.offsets = offsets
        rooms = training.rooms.sorted { $0.key < $1.key }.compactMap { name, fingerprint in
            let inHand = fingerprint.samples(in: .hand)
            let samples = (inHand + fingerprint.samples(in: .pocket)).map { sample in
                sample.rssi.compactMap { beacon, rssi in offsets[beacon].map { (beacon: $0, rssi: rssi) } }
                    .sorted { $0.beacon < $1.beacon }
            }
            return samples.allSatisfy(\.isEmpty)
                ? nil
                : Entry(
                    name: name, samples: samples, countedSamples: inHand.isEmpty ? samples.count : inHand.count)
        }
    }

    /// What of a scan was trained, ordered by beacon; nil if that is too little for a valid answer.
    func known(of scan: RoomScan, atLeast count: Int) -> [(beacon: Int, rssi: Double)]? {
        guard !rooms.isEmpty else { return nil }
        let known = scan.rssi.compactMap { beacon, rssi in offsets[beacon].map { (beacon: $0, rssi: rssi) } }
        return known.count >= max(1, count) ? known.sorted { $0.beacon < $1.beacon } : nil
    }
}
