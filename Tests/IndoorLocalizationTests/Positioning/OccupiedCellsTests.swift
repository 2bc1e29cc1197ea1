import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class OccupiedCellsTests: XCTestCase {
    private static let grid = MapGrid(from: MapPoint(x: -1, y: 2), to: MapPoint(x: 19, y: 12), cellSize: 0.7)

    func testEachParticleHasTheCellOfItsGrid() {
        let seed: UInt64 = 21
        let particles = Self.particles(count: 2000, seed: seed)
        var occupied = OccupiedCells()
        var (lookup, all): ([Int32], [Int32]) = ([], [])
        occupied.find(particles, 0..<2000, grid: Self.grid, lookup: &lookup, all: &all)
        for index in 0..<2000 {
            let point = MapPoint(x: Double(particles.x[index]), y: Double(particles.y[index]))
            let offset = ((point.x + 1) / Self.grid.cellSize, (point.y - 2) / Self.grid.cellSize)
            // At an edge, rounding decides.
            guard abs(offset.0 - offset.0.rounded()) > 1e-5, abs(offset.1 - offset.1.rounded()) > 1e-5 else { continue }
            let cell = Self.grid.cell(at: point).map(Int32.init) ?? -1
            XCTAssertEqual(occupied.cells[Int(occupied.slots[index])], cell, "particle \(index), seed \(seed)")
            XCTAssertEqual(all[index], cell + 1, "particle \(index), seed \(seed)")
        }
        XCTAssertEqual(Set(occupied.cells).count, occupied.cells.count)
        XCTAssertTrue(occupied.cells.contains(-1))
    }

    func testTheSearchRestoresItsScratchMemory() {
        var occupied = OccupiedCells()
        var (lookup, all): ([Int32], [Int32]) = ([], [])
        for seed in UInt64(1)...3 {
            let particles = Self.particles(count: 300, seed: seed)
            occupied.find(particles, 0..<300, grid: Self.grid, lookup: &lookup, all: &all)
            XCTAssertEqual(Set(lookup), [-1], "seed \(seed)")
            XCTAssertEqual(occupied.slots.count, 300)
        }
    }

    func testTheCellsOfSomeParticlesAreThoseOfTheRangeAlone() {
        let particles = Self.particles(count: 500, seed: 5)
        var (some, every) = (OccupiedCells(), OccupiedCells())
        var (lookup, all, whole): ([Int32], [Int32], [Int32]) = ([], [], [])
        every.find(particles, 0..<500, grid: Self.grid, lookup: &lookup, all: &whole)
        some.find(particles, 100..<400, grid: Self.grid, lookup: &lookup, all: &all)
        XCTAssertEqual(all, Array(whole[100..<400]))
        XCTAssertEqual(some.slots.map { some.cells[Int($0)] + 1 }, all)
    }

    func testWithoutParticlesNoCellIsOccupied() {
        var occupied = OccupiedCells()
        var (lookup, all): ([Int32], [Int32]) = ([], [])
        occupied.find(ParticleFilter.Particles(), 0..<0, grid: Self.grid, lookup: &lookup, all: &all)
        XCTAssertTrue(occupied.cells.isEmpty && occupied.slots.isEmpty && all.isEmpty)
    }

    func testTheParticlesOfALevelLieTogether() {
        var particles = ParticleFilter.Particles()
        particles.mapIndex = [0, 0, 2, 2, 2, 5]
        XCTAssertEqual((0...6).map { particles.range(of: $0) }, [0..<2, 2..<2, 2..<5, 5..<5, 5..<5, 5..<6, 6..<6])
    }

    /// Particles in and around the grid, a few of them nowhere.
    private static func particles(count: Int, seed: UInt64) -> ParticleFilter.Particles {
        var generator = SeededGenerator(seed: seed)
        var particles = ParticleFilter.Particles()
        for index in 0..<count {
            particles.x.append(index % 97 == 0 ? .nan : Float(24 * generator.uniform() - 3))
            particles.y.append(index % 89 == 0 ? -.infinity : Float(14 * generator.uniform()))
            particles.weight.append(Float(generator.uniform()))
        }
        return particles
    }
}
