import IndoorVocabulary

/// Training data as indexed arrays, for the classifiers.
struct RoomTable: Sendable {
    /// A room's samples: each has the received beacons, as offsets into `beacons`, and their RSSI.
    struct Entry: Sendable {
        var name: String
        var samples: [[(beacon: Int, rssi: Double)]]
        /// The number of samples from which classifiers estimate how often a beacon is received: the first samples,
        /// which are the samples in a hand if there are any. In a pocket, a device can miss beacons.
        var countedSamples: Int
    }

    /// The rooms with at least one sample that contains a beacon, by name.
    let rooms: [Entry]
    /// The beacons, in order, so that the same training always gives the same sums.
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

    /// Returns the trained beacons of a scan, in order; nil if there are too few for a valid answer.
    func known(of scan: RoomScan, atLeast count: Int) -> [(beacon: Int, rssi: Double)]? {
        guard !rooms.isEmpty else { return nil }
        let known = scan.rssi.compactMap { beacon, rssi in offsets[beacon].map { (beacon: $0, rssi: rssi) } }
        return known.count >= max(1, count) ? known.sorted { $0.beacon < $1.beacon } : nil
    }
}
