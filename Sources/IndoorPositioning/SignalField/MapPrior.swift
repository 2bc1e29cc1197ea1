import IndoorVocabulary

/// Tells how expected it is to find somebody at the points of a venue, before anything is heard.
///
/// The engine asks once for each cell of a map's grid. How much the answers count within a second is
/// `PositioningSettings.priorShare`. `SurveyPrior` is the standard one; `PathPrior` expects people on paths.
public protocol MapPrior: Sendable {
    /// How expected a point is, against the most expected one of the map: in (0, 1].
    ///
    /// Whatever is less than 1e-30, or no number, counts as 1e-30, and whatever is greater than 1 as 1.
    ///
    /// - Parameters:
    ///   - point: in metres.
    ///   - mapID: the map that it lies on.
    func weight(at point: MapPoint, on mapID: MapID) -> Double
}

extension MapPrior {
    /// Both together: a point is as expected as the product of both says.
    public func multiplied(by other: some MapPrior) -> ProductPrior { ProductPrior(of: [self, other]) }
}

/// A prior with a faster way to the weights of a grid than cell by cell.
protocol TabulatedPrior: MapPrior {
    /// The weight of each cell.
    func weights(on mapID: MapID, grid: MapGrid) -> [Float]
}

extension MapPrior {
    /// The weight of each cell of a grid.
    func makeWeights(on mapID: MapID, grid: MapGrid) -> [Float] {
        let weights =
            (self as? any TabulatedPrior)?.weights(on: mapID, grid: grid)
            ?? (0..<grid.count).map { Float(weight(at: grid.center(of: $0), on: mapID)) }
        // A logarithm is taken of it.
        return weights.map { $0 > 1e-30 ? min($0, 1) : 1e-30 }
    }
}

/// Several priors together: a point is as expected as their product says.
public struct ProductPrior: MapPrior, TabulatedPrior {
    private let factors: [any MapPrior]

    /// Creates the product; without factors every point is as expected as any other.
    public init(of factors: [any MapPrior]) { self.factors = factors }

    /// The product of the factors' weights.
    public func weight(at point: MapPoint, on mapID: MapID) -> Double {
        factors.reduce(1) { $0 * $1.weight(at: point, on: mapID) }
    }

    func weights(on mapID: MapID, grid: MapGrid) -> [Float] {
        guard let first = factors.first else { return Array(repeating: 1, count: grid.count) }
        return factors.dropFirst().reduce(first.makeWeights(on: mapID, grid: grid)) { product, factor in
            zip(product, factor.makeWeights(on: mapID, grid: grid)).map { $0 * $1 }
        }
    }
}
