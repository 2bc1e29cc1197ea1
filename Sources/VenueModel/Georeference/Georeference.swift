import CMath
import IndoorVocabulary

/// The location and orientation of a plan on Earth.
public enum Georeference: Hashable, Sendable {
    /// A point of the plan with its coordinate.
    public struct ControlPoint: Hashable, Sendable {
        /// The point on the plan.
        public var point: MapPoint
        /// The same place on Earth.
        public var coordinate: Coordinate

        /// Creates a control point.
        public init(point: MapPoint, coordinate: Coordinate) {
            self.point = point
            self.coordinate = coordinate
        }
    }

    /// The plan's centre and the bearing of its "up", in degrees clockwise from true north.
    case center(Coordinate, bearing: Double)
    /// Points known in both frames. Two points define a similarity transform; more points are fitted by least squares.
    case controlPoints([ControlPoint])
}
