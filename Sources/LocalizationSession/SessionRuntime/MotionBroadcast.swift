import IndoorPositioning
import IndoorVocabulary

/// Hands what is told of motion to whoever listens to that kind of it.
struct MotionBroadcast: Sendable {
    let motion: Broadcast<MotionEstimate>
    let headings: Broadcast<Heading>
    let attitudes: Broadcast<Attitude>

    init(_ pace: ScanPace) {
        motion = Broadcast(of: pace)
        headings = Broadcast(of: pace)
        attitudes = Broadcast(of: pace)
    }

    /// Ends the streams of all subscribers so far.
    func finish() {
        motion.finish()
        headings.finish()
        attitudes.finish()
    }

    /// How many elements slow subscribers have lost.
    var dropped: Int { motion.dropped + headings.dropped + attitudes.dropped }

    func send(_ news: MotionUpdate) {
        switch news {
        case .motion(let estimate): motion.send(estimate)
        case .heading(let heading): headings.send(heading)
        case .attitude(let attitude): attitudes.send(attitude)
        }
    }
}
