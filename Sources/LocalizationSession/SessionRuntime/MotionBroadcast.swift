import IndoorPositioning
import IndoorVocabulary

/// The broadcasts of motion updates, one for each kind.
struct MotionBroadcast: Sendable {
    let motion: Broadcast<MotionEstimate>
    let headings: Broadcast<Heading>
    let attitudes: Broadcast<Attitude>

    init(_ pace: ScanPace) {
        motion = Broadcast(of: pace)
        headings = Broadcast(of: pace)
        attitudes = Broadcast(of: pace)
    }

    /// Finishes the streams of all current subscribers.
    func finish() {
        motion.finish()
        headings.finish()
        attitudes.finish()
    }

    /// The number of elements dropped for slow subscribers.
    var dropped: Int { motion.dropped + headings.dropped + attitudes.dropped }

    func send(_ update: MotionUpdate) {
        switch update {
        case .motion(let estimate): motion.send(estimate)
        case .heading(let heading): headings.send(heading)
        case .attitude(let attitude): attitudes.send(attitude)
        }
    }
}
